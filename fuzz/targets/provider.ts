import { unpackAnswer } from '../../src/calls/ledger/stored-answer.js';
import { cooldownMs, learnedLimits } from '../../src/calls/limiter/rate-headers.js';
import { CallFault } from '../../src/calls/outcome.js';
import { providerError } from '../../src/calls/provider-error.js';
import { readResponse } from '../../src/calls/read-response.js';
import { DEFAULT_RETRY_POLICY, parseRetryAfter, retryDelay } from '../../src/calls/retry-policy.js';
import { JSON_TEXT } from '../inputs/kinds.js';
import type { InputSource } from '../inputs/source.js';
import { mustHold, type Target } from '../target.js';

const TYPES = [
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'error',
  'ping',
  'x',
];
const EVENTS = [
  '{"type":"message_start","message":{"type":"message","content":[],"usage":{"input_tokens":1}}}',
  '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
  '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}',
  '{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":"}}',
  '{"type":"content_block_stop","index":0}',
  '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}',
  '{"type":"message_stop"}',
  '{"type":"error","error":{"type":"overloaded_error","message":"x"}}',
];
const HEADERS = [
  '1',
  '0',
  '60',
  '-1',
  '1e9',
  'Mon, 01 Jan 2029 00:00:00 GMT',
  '2029-01-01T00:00:00Z',
  '999999999999999999',
];
/** The time at which headers are read: fixed, so that the same input gives the same data. */
const NOW = Date.UTC(2026, 0, 1);

const data = (source: InputSource) => (source.chance(0.6) ? source.pick(EVENTS) : source.text(JSON_TEXT));

export const provider: Target = {
  name: 'provider',
  about: 'answers of the Messages API: streams, whole messages, errors, headers; and an answer as it is kept',
  generate: (source) => {
    const inOrder = source.chance(0.5);
    const events = inOrder ? EVENTS.slice(0, 7) : [...Array(source.below(8))].map(() => data(source));
    if (inOrder) events[source.below(events.length)] = data(source);
    return [
      source.pick(['text/event-stream', 'application/json', 'text/html', source.word([';', '/'])]),
      source.word(HEADERS),
      ...events,
    ];
  },
  refuses: (thrown) => thrown instanceof CallFault,
  open: () => ({
    run: async ([contentType = '', header = '', ...events]) => {
      const names = ['limit', 'remaining', 'reset'].map((name) => [
        `anthropic-ratelimit-requests-${name}`,
        header,
      ]);
      const headers = { 'retry-after': header, ...Object.fromEntries(names) };
      const wait = cooldownMs(headers, NOW);
      mustHold(wait === undefined || wait > 0, 'a wait is above zero');
      const delay = retryDelay(DEFAULT_RETRY_POLICY, 1, parseRetryAfter(header, NOW), 0.5);
      mustHold(
        delay >= 0 && delay <= 2 * DEFAULT_RETRY_POLICY.maxRetryAfterMs,
        'a delay is within its bounds',
      );
      const limits = learnedLimits(headers);
      const text = events.join('\n');
      const outcome = providerError(text, 400, headers);
      mustHold(outcome.detail.length < 2_000, 'what a provider says is cut');
      mustHold(unpackAnswer(Buffer.from(text, 'latin1')).broken !== undefined, 'damaged bytes are no answer');
      const message = await readResponse(
        {
          status: 200,
          contentType,
          headers,
          text: async () => text,
          events: async function* () {
            for (const [index, event] of events.entries()) {
              const type = /^\{"type":"([a-z_]+)"/.exec(event)?.[1];
              yield { event: type ?? TYPES[index % TYPES.length] ?? null, data: event };
            }
          },
        },
        () => undefined,
      );
      return [wait, delay, limits, outcome, message];
    },
  }),
};
