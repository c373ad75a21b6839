import { JobError } from '../../src/errors.js';
import { isLater } from '../../src/gateway/events/event-feed.js';
import { LONGEST_WAIT_MS, WaitSchema } from '../../src/gateway/http/duration.js';
import { queueOfId } from '../../src/gateway/operations/job-resource.js';
import { chooseJobId, kindOfJobId } from '../../src/producers/job-id.js';
import { failedChildOf } from '../../src/queues/child-failure.js';
import { decodeFailure, encodeFailure } from '../../src/queues/failure.js';
import { parseJobKey } from '../../src/queues/job-key.js';
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

export const ids: Target = {
  name: 'ids',
  about: 'ids and keys of jobs, places in streams, waits, and the texts that failures are stored as',
  generate: (source) => [id(source), source.word(WORDS), source.word(WORDS)],
  refuses: (thrown) => thrown instanceof RangeError && thrown.message.endsWith('is not the key of a job'),
  open: () => ({
    run: ([text = '', other = '', key = '']) => {
      const wait = WaitSchema.safeParse(other).data;
      mustHold(wait === undefined || (wait >= 0 && wait <= LONGEST_WAIT_MS), 'a wait is within its bounds');
      mustHold(!(isLater(text, other) && isLater(other, text)), 'of two places one is later at most');
      const failure = decodeFailure(encodeFailure(new JobError('job-failed', other)));
      mustHold(failure.code === 'job-failed', 'a failure is read back with its code');
      const child = failedChildOf(text);
      const queue = queueOfId(text);
      mustHold(!queue.includes(':'), 'the queue of an id is no part of a key');
      mustHold(queueOfId(chooseJobId(queue, key || 'x')) === queue, 'a made id names its queue');
      return [wait, failure, child, queue, kindOfJobId(text), parseJobKey(other)];
    },
  }),
};
