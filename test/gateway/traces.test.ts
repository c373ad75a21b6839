import { context, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadTelemetry } from '../../src/fleet/telemetry.js';
import { tracedRunner } from '../../src/fleet/traced-runner.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import {
  errorReply,
  jsonReply,
  type MessagesApi,
  type Script,
  startMessagesApi,
  textReply,
} from '../support/messages-api.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';

const WANTED = { OTEL_TRACES_EXPORTER: 'otlp' };
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
let redis: TestRedis;
let test: TestFleet;
let gateway: TestGateway;
let api: MessagesApi;
let count = 0;

beforeAll(async () => {
  provider.register();
  redis = await startTestRedis();
});
afterAll(async () => {
  await redis.stop();
  await provider.shutdown();
  // What is registered counts for the whole process, in which other files run later.
  for (const registered of [trace, context, propagation]) registered.disable();
});
beforeEach(async () => {
  count += 1;
  exporter.reset();
  const prefix = `traces-${count}`;
  const telemetry = await loadTelemetry(WANTED);
  if (telemetry === undefined) throw new Error('no telemetry');
  test = await startTestFleet(redis, prefix);
  const openFleet = () => FleetClient.open({ redisUrl: redis.url, prefix, waitForSlow: true, telemetry });
  gateway = await startTestGateway(redis, prefix, {}, { openFleet });
});
afterEach(async () => {
  await gateway.close();
  await test.close();
  await api.close();
});

async function workWith(reply: Script): Promise<void> {
  api = await startMessagesApi({ reply });
  const telemetry = await loadTelemetry(WANTED);
  await test.worker(tracedRunner(runnerFor(api)), telemetry === undefined ? {} : { telemetry });
}

/** Whether a span is below another, at any depth. */
function isBelow(span: ReadableSpan, ancestor: ReadableSpan, all: readonly ReadableSpan[]): boolean {
  const parent = all.find((other) => other.spanContext().spanId === span.parentSpanContext?.spanId);
  return parent !== undefined && (parent === ancestor || isBelow(parent, ancestor, all));
}

const SOLUTION = { content: 'a = fit(all)\n' };

describe('traces', () => {
  it('one trace leads from the request through the flow to each agent call', async () => {
    const plans = [{ code_block: 'a = fit(all)', plan: 'Fit it on less.' }];
    await workWith((request) =>
      request.text.includes('<ablation-code-') ? textReply('The fit matters.') : jsonReply({ plans }),
    );
    const step = { ablationCode: 'x', rawOutput: 'a: 1', solution: SOLUTION, previousBlocks: [] };
    const { json } = await gateway.send('POST', '/v1/flows/refinement?wait', step, PARENT);
    expect(json.state).toBe('completed');
    await expect
      .poll(() => exporter.getFinishedSpans().some(({ name }) => name.startsWith('POST')))
      .toBe(true);
    const spans = exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === TRACE);
    const request = spans.find(({ name }) => name === 'POST /v1/flows/refinement');
    const calls = spans.filter(({ name }) => name.startsWith('chat '));
    expect(request?.attributes).toMatchObject({
      'http.route': '/v1/flows/refinement',
      'http.response.status_code': 200,
    });
    expect(calls).toHaveLength(api.requests.length);
    if (request === undefined) throw new Error('no request span');
    for (const call of calls) {
      expect(isBelow(call, request, spans)).toBe(true);
      expect(call.attributes).toMatchObject({
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'anthropic',
        'gen_ai.request.model': 'claude-test',
        'gen_ai.response.finish_reasons': ['end_turn'],
        'gen_ai.usage.input_tokens': 100,
        'gen_ai.usage.output_tokens': 20,
      });
    }
    // Texts of users and answers of agents are in no span.
    expect(JSON.stringify(spans.map(({ attributes, events }) => [attributes, events]))).not.toContain(
      'fit(all)',
    );
  });

  it('a call that fails has the error status, and each time it is sent is a span', async () => {
    let asked = 0;
    await workWith(() => {
      asked += 1;
      return asked === 1 ? errorReply(500) : leaks();
    });
    await gateway.send('POST', '/v1/jobs/solution-check?wait', { payload: { solution: SOLUTION } });
    const calls = exporter.getFinishedSpans().filter(({ name }) => name.startsWith('chat '));
    expect(calls.map(({ attributes }) => attributes['fleet.call.outcome'])).toEqual([
      'overloaded',
      'answered',
    ]);
    expect(calls[0]?.attributes['error.type']).toBe('overloaded');
    expect(calls[0]?.status.code).toBe(SpanStatusCode.ERROR);
  });
});
