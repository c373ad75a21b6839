import type { Redis } from 'ioredis';
import { LEDGER_FIELD, MAX_RECORDED_CALLS } from '../../queues/call-record.js';
import { batchBase, spendBase } from '../../queues/redis-keys.js';
import { replyList, replyText, runScript } from '../../queues/run-script.js';
import type { Clock } from '../clock.js';
import { removedEnd } from './line-outcome.js';
import { LEAVE_LINE } from './line-scripts.js';

interface Cancelling {
  readonly client: Redis;
  readonly prefix: string;
  readonly clock: Clock;
  readonly logOfJob: (jobKey: string, message: string) => Promise<void>;
}

/** Takes the lines of cancelled jobs out of the next batch, and says in the log of the job where that is too late. */
export async function leaveCancelledLines(cancelling: Cancelling): Promise<void> {
  const cancelled = `${batchBase(cancelling.prefix)}:cancelled`;
  for (const jobKey of await cancelling.client.smembers(cancelled)) {
    for (const line of await openLines(cancelling.client, jobKey)) await leave(cancelling, jobKey, line);
    await cancelling.client.srem(cancelled, jobKey);
  }
}

async function leave({ client, prefix, clock, logOfJob }: Cancelling, jobKey: string, line: string) {
  const ended = JSON.stringify(removedEnd('the job was cancelled', clock.now()));
  const args = ['', '', spendBase(prefix), '', batchBase(prefix), line, ended];
  const reply = await runScript(client, LEAVE_LINE, [jobKey, `${jobKey}:lock`], args);
  const [status, lines, left, isSure] = replyList(reply);
  if (replyText(status) === 'removed') await logOfJob(jobKey, 'its call was in no batch yet: it is not sent');
  if (replyText(status) !== 'left') return;
  const others = Number(lines) - Number(left);
  await logOfJob(jobKey, whyLeft(others, isSure === 1));
}

function whyLeft(others: number, isSure: boolean): string {
  if (others > 0)
    return `its batch cannot be cancelled, for ${others} other ${others === 1 ? 'call waits' : 'calls wait'} for it; the call of this job may be billed`;
  return isSure
    ? 'its batch is cancelled, for no job waits for it any more; a call that was answered before that is billed'
    : 'it is not certain which batch has its call, so none is cancelled; the call may be billed';
}

/** The lines of a job that have no end. */
async function openLines(client: Redis, jobKey: string): Promise<string[]> {
  const last = Math.min(Number((await client.hget(jobKey, LEDGER_FIELD)) ?? 0), MAX_RECORDED_CALLS);
  const lines: string[] = [];
  for (let number = 1; number <= last; number += 1) {
    const field = `${LEDGER_FIELD}:${number}`;
    const [line, end] = await client.hmget(jobKey, `${field}:line`, `${field}:end`);
    if (line && !end) lines.push(line);
  }
  return lines;
}
