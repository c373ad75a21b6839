import {
  errorReply,
  jsonReply,
  type MessageReply,
  type MessagesApi,
  type RecordedRequest,
  type Reply,
  recordedLine,
  refusalReply,
  startMessagesApi,
  textReply,
  truncatedReply,
} from '../test/support/messages-api.js';
import { CORRECTED_LINE, LEAKY_LINE } from './pipeline.js';
import { pick, randomFrom, seedOf } from './random.js';

/** A request as the provider bills it. */
export interface Billed {
  /** Its question: job marker and role. */
  readonly question: string;
  /** Distinguishes the calls of a conversation: each has more messages, or more room for its answer. */
  readonly form: string;
  readonly arrivedAt: number;
  /** When the answer was complete or the connection ended; undefined before. */
  endedAt: number | undefined;
  /** Whether the reply was correct and complete. */
  readonly good: boolean;
  /** Whether the reply broke off, so that the client cannot know whether it is billed. */
  readonly broken: boolean;
  /** The client disconnected before the answer was complete. */
  aborted: boolean;
}

export interface Provider {
  readonly api: MessagesApi;
  readonly billed: readonly Billed[];
}

type Behavior =
  | 'good'
  | 'slow'
  | 'hang'
  | 'stall'
  | 'reset'
  | 'cut'
  | 'rate-limit'
  | 'overload'
  | 'truncate'
  | 'garbage'
  | 'refuse';

const BEHAVIORS: readonly (readonly [number, Behavior])[] = [
  [72, 'good'],
  [6, 'slow'],
  [1, 'hang'],
  [3, 'stall'],
  [3, 'reset'],
  [3, 'cut'],
  [1, 'rate-limit'],
  [2, 'overload'],
  [2, 'truncate'],
  [4, 'garbage'],
  [1, 'refuse'],
];

/** In a batch, no connection breaks; a limit that is reached makes requests expire. */
const IN_BATCHES: typeof BEHAVIORS = [
  [80, 'good'],
  [5, 'rate-limit'],
  [3, 'overload'],
  [3, 'truncate'],
  [6, 'garbage'],
  [3, 'refuse'],
];

/** What becomes of the request that creates a batch. */
const CREATIONS = [
  [8, 'taken'],
  [1, 'lost-before'],
  [1, 'lost-after'],
] as const;

/** Identifies a script of this run. */
const MARKER = /marker_(\d+)/;

function questionOf({ body, text }: RecordedRequest): string {
  const marker = MARKER.exec(text)?.[1] ?? 'unknown';
  if (text.includes('<ablation-code-')) return `${marker} summary`;
  // By the schema: the summary that it has may be any text.
  if (JSON.stringify(body.output_config ?? {}).includes('"plans"')) return `${marker} extract`;
  if (text.includes(CORRECTED_LINE)) return `${marker} verify`;
  if (!text.includes(LEAKY_LINE)) return `${marker} detect`;
  if (body.output_config !== undefined) return `${marker} detect-leak`;
  return text.includes('<problem-') ? `${marker} second correct` : `${marker} correct`;
}

function rightAnswer(question: string): MessageReply {
  if (question.endsWith('summary')) return textReply('The fit matters most.');
  if (question.endsWith('extract')) {
    return jsonReply({ plans: [{ code_block: 'x = 1', plan: 'Tune it.' }] });
  }
  if (question.endsWith('correct')) return textReply(`\`\`\`python\n${CORRECTED_LINE}\`\`\``);
  if (question.endsWith('detect-leak')) {
    return jsonReply({ answers: [{ leakage_status: 'Yes Data Leakage', code_block: LEAKY_LINE.trim() }] });
  }
  return jsonReply({ answers: [{ leakage_status: 'No Data Leakage', code_block: '' }] });
}

/** A replacement for the Messages API that misbehaves by plan: the same way for the same question and count. */
export async function startProvider(seed: number): Promise<Provider> {
  const billed: Billed[] = [];
  const asked = new Map<string, number>();
  const ask = (request: RecordedRequest, behaviors: typeof BEHAVIORS) => {
    const question = questionOf(request);
    const count = (asked.get(question) ?? 0) + 1;
    asked.set(question, count);
    const random = randomFrom(seedOf(seed, `${question} ${count}`));
    const behavior = pick(random, behaviors);
    const entry: Billed = {
      question,
      form: `${request.body.messages.length} ${request.body.max_tokens}`,
      arrivedAt: Date.now(),
      good: behavior === 'good' || behavior === 'slow',
      broken: ['hang', 'stall', 'reset', 'cut'].includes(behavior),
      endedAt: undefined,
      aborted: false,
    };
    billed.push(entry);
    return { behavior, entry, reply: replyOf(behavior, question, random) };
  };
  const api = await startMessagesApi({
    reply: (request) => {
      const { entry, reply } = ask(request, BEHAVIORS);
      const over = setTimeout(() => {
        if (!entry.broken) entry.endedAt = Date.now();
      }, reply.delayMs ?? 0);
      void request.aborted.then(() => {
        clearTimeout(over);
        entry.aborted = entry.endedAt === undefined;
        entry.endedAt ??= Date.now();
      });
      return reply;
    },
  });
  api.batches.fate = (line) => {
    const { behavior, entry, reply } = ask(recordedLine(line), IN_BATCHES);
    entry.endedAt = entry.arrivedAt;
    return behavior === 'rate-limit' ? 'expired' : reply;
  };
  api.batches.endAtOnce();
  const random = randomFrom(seedOf(seed, 'batches'));
  for (let created = 0; created < 10_000; created += 1) api.batches.creations.push(pick(random, CREATIONS));
  return { api, billed };
}

function replyOf(behavior: Behavior, question: string, random: () => number): Reply {
  const delayMs = 30 + random() * 300;
  const right = rightAnswer(question);
  switch (behavior) {
    case 'good':
      return { ...right, delayMs };
    case 'slow':
      return { ...right, delayMs: delayMs + 1_200 };
    case 'hang':
      return { kind: 'hang' };
    case 'stall':
      return { ...right, delayMs, fault: { after: 3, effect: { what: 'hang' } } };
    case 'reset':
      return { kind: 'reset', delayMs };
    case 'cut':
      return { ...right, delayMs, fault: { after: 4, effect: { what: 'end' } } };
    case 'rate-limit':
      return { ...errorReply(429, 'too many', { 'retry-after': '1' }), delayMs };
    case 'overload':
      return { ...errorReply(529), delayMs };
    case 'truncate':
      return { ...truncatedReply('{"answers": ['), delayMs };
    case 'garbage':
      return { ...textReply('I would rather not say it in JSON. <html>'), delayMs };
    case 'refuse':
      return { ...refusalReply('other'), delayMs };
  }
}
