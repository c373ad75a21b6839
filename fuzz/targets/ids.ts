import { JobError } from '../../src/errors.js';
import { MAX_WAIT_MS, WaitSchema } from '../../src/gateway/http/duration.js';
import { queueOfId } from '../../src/gateway/operations/job-resource.js';
import { isLater } from '../../src/producers/event-feed.js';
import { chooseJobId } from '../../src/producers/job-id.js';
import { failedChildOf } from '../../src/queues/child-failure.js';
import { decodeFailure, encodeFailure } from '../../src/queues/failure.js';
import { parseJobKey } from '../../src/queues/job-key.js';
import { BUILT_IN_CONTRACTS } from '../../src/queues/registry.js';
import type { InputSource } from '../inputs/source.js';
import { mustHold, type Target } from '../target.js';

const WORDS = [
  ...[
    'solution-check',
    'summarize',
    '-',
    ':',
    'fleet',
    '00000000-0000-4000-8000-000000000000',
    '0'.repeat(40),
  ],
  ...[
    'child fleet:a:b failed',
    '[internal] x',
    '[',
    ']',
    ' failed',
    '1-0',
    '30s',
    '500ms',
    '2m',
    '999999999',
  ],
];

const id = (source: InputSource) =>
  source.chance(0.3) ? chooseJobId(source.word(WORDS), `key ${source.word(WORDS)}`) : source.word(WORDS);

/** The result of a reader, or its rejection. */
function answerOf(read: () => unknown, refusal: (thrown: unknown) => boolean): unknown {
  try {
    return read();
  } catch (thrown) {
    if (!refusal(thrown)) throw thrown;
    return 'refused';
  }
}

const isJobError = (thrown: unknown) => thrown instanceof JobError;
const isNoKey = (thrown: unknown) =>
  thrown instanceof RangeError && thrown.message.endsWith('is not the key of a job');

export const ids: Target = {
  name: 'ids',
  about: 'ids and keys of jobs, places in streams, waits, and the texts that failures are stored as',
  generate: (source) => [id(source), source.word(WORDS), source.word(WORDS)],
  open: () => ({
    run: ([text = '', other = '', key = '']) => {
      const wait = WaitSchema.safeParse(other).data;
      mustHold(wait === undefined || (wait >= 0 && wait <= MAX_WAIT_MS), 'a wait is within its bounds');
      mustHold(!(isLater(text, other) && isLater(other, text)), 'of two places one is later at most');
      const failure = decodeFailure(encodeFailure(new JobError('job-failed', other)));
      mustHold(failure.code === 'job-failed', 'a failure is read back with its code');
      const queue = answerOf(() => queueOfId(text), isJobError);
      mustHold(!String(queue).includes(':'), 'the queue of an id is no part of a key');
      if (queue !== 'refused') {
        const made = chooseJobId(String(queue), key || 'x');
        mustHold(queueOfId(made) === queue, 'a made id names its queue');
      }
      return [
        wait,
        failure,
        failedChildOf(text),
        queue,
        BUILT_IN_CONTRACTS.ofJobId(text),
        answerOf(() => parseJobKey(other), isNoKey),
      ];
    },
  }),
};
