import { afterEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { AgentError } from '../../src/errors.js';
import { processSummarize } from '../../src/processors/summarize.js';
import { SummarizeResultSchema } from '../../src/queues/summarize.js';
import { runnerFor } from '../support/agent-answers.js';
import {
  type MessagesApi,
  type Script,
  startMessagesApi,
  textReply,
  truncatedReply,
} from '../support/messages-api.js';
import { workWith } from '../support/work.js';

const OUTPUT = 'Baseline: 0.8196, No StandardScaler: 0.8102, No OneHotEncoder: 0.7886, No Imputation: 0.8196';
const CODE = 'print("Baseline:", score)';

let api: MessagesApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

async function summarize(rawOutput: string, reply: Script) {
  api = await startMessagesApi({ reply });
  const work = workWith(runnerFor(api));
  const result = await processSummarize({ ablationCode: CODE, rawOutput }, work);
  expect(SummarizeResultSchema.safeParse(result).error).toBeUndefined();
  return { result, work, requests: api.requests };
}

describe('summarize', () => {
  it('REQ-P2O-011: the whole text of the answer is the summary, as it is', async () => {
    const answer = '  OneHotEncoder matters most: 0.8196 to 0.7886.\n\n```\nnot taken out\n```\n';
    const { result, requests } = await summarize(OUTPUT, [textReply(answer)]);
    expect(result.summary).toBe(answer);
    expect(result.notes).toBeUndefined();
    expect(requests).toHaveLength(1);
  });

  it('shows the control characters of an answer, and half surrogate pairs, as characters that do nothing', async () => {
    const { result } = await summarize(OUTPUT, [textReply('a\u001b[2J\0b\ud800c\td\r\n')]);
    expect(result.summary).toBe('a\ufffd[2J\ufffdb\ufffdc\td\r\n');
  });

  it('REQ-P2O-009: the agent sees the code and the printed output', async () => {
    const { requests } = await summarize(OUTPUT, [textReply('x')]);
    expect(requests[0]?.text).toContain(CODE);
    expect(requests[0]?.text).toContain(OUTPUT);
  });

  it('REQ-P2O-010: empty output is allowed, and the prompt says so', async () => {
    const { result, requests } = await summarize('', [textReply('The study printed nothing.')]);
    expect(result.summary).toBe('The study printed nothing.');
    expect(requests[0]?.text).toContain('it printed nothing');
  });

  it('an empty answer is requested once more', async () => {
    const { result, requests } = await summarize(OUTPUT, [textReply(''), textReply('now')]);
    expect(result.summary).toBe('now');
    expect(requests).toHaveLength(2);
  });

  it('an answer that stays empty is a final error', async () => {
    const failed = summarize(OUTPUT, [textReply(''), textReply('')]);
    await expect(failed).rejects.toBeInstanceOf(AgentError);
    await expect(failed).rejects.toMatchObject({ code: 'answer-invalid', retryable: false });
  });

  it('a cut-off answer is requested once more with twice the token limit, then is a final error', async () => {
    const { result, requests } = await summarize(OUTPUT, [truncatedReply('OneHot'), textReply('whole')]);
    expect(result.summary).toBe('whole');
    expect(requests.map(({ body }) => body.max_tokens)).toEqual([1_000, 2_000]);
    await api?.close();
    const failed = summarize(OUTPUT, [truncatedReply('a'), truncatedReply('b')]);
    await expect(failed).rejects.toMatchObject({ code: 'answer-truncated', retryable: false });
  });

  it('output that is too long is shortened in its middle, with a marker, a log line and a note; the end stays', async () => {
    const rawOutput = `first line\n${'noise '.repeat(100_000)}\nBaseline: 0.81\nlast line`;
    const { result, work, requests } = await summarize(rawOutput, [textReply('x')]);
    expect(result.notes?.[0]).toContain('rawOutput was shortened');
    expect(work.warnings[0]).toContain('rawOutput was shortened');
    expect(requests[0]?.text).toContain('first line');
    expect(requests[0]?.text).toContain('Baseline: 0.81\nlast line');
    expect(requests[0]?.text.length).toBeLessThan(320_000);
  });

  it('a number that the output does not support is named in the notes', async () => {
    const { result } = await summarize(OUTPUT, [
      textReply('OneHotEncoder: 0.8196 to 0.7886, a loss of 0.0310; F1 is 0.4242.'),
    ]);
    expect(result.notes?.join('\n')).toContain('0.4242');
    expect(result.notes?.join('\n')).not.toContain('0.0310');
  });

  it('a ranking without any score is named in the notes', async () => {
    const crash = 'Traceback (most recent call last):\nValueError: could not convert string to float';
    const { result } = await summarize(crash, [textReply('StandardScaler is the most impactful component.')]);
    expect(result.notes?.join('\n')).toContain('ranks components, but the output contains no score');
  });
});

describe('summarize offline', () => {
  const offline = (rawOutput: string) =>
    processSummarize({ ablationCode: CODE, rawOutput }, workWith(createOfflineRunner()));

  it('REQ-P2O-011: names OneHotEncoder as the most impactful component, and Imputation as the least', async () => {
    const { summary, agent, usage, notes } = await offline(OUTPUT);
    const sentences = summary.split(/(?<=\.)\s/);
    const most = sentences.find((sentence) => /most impactful/i.test(sentence));
    const least = sentences.find((sentence) => /least impactful/i.test(sentence));
    expect(most).toContain('OneHotEncoder');
    expect(most).not.toContain('Imputation');
    expect(least).toContain('Imputation');
    expect(agent).toEqual({ runner: 'offline' });
    expect(usage.calls).toBe(0);
    expect(notes).toBeUndefined();
  });

  it('REQ-P2O-010: of nothing printed it says exactly that, and ranks nothing', async () => {
    const { summary } = await offline('');
    expect(summary).not.toMatch(/most impactful/i);
    expect(summary).toMatch(/printed nothing|no output/i);
  });
});
