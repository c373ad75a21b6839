import { RedisError } from '../errors.js';

/** The first word of the answers by which a Redis that runs refuses a command for a while; it was not executed. */
const WORDS =
  'LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MISCONF|NOREPLICAS|BUSY|NOAUTH|WRONGPASS|NOPERM|UNBLOCKED';

/** Redis 7 begins with the word, also where a script met the refusal; Redis 6 puts it after the line of the script. */
const REFUSAL = new RegExp(
  `^(?:Ready check failed: )?(?:${WORDS}) |^ERR max number of clients|^ERR The user executing the script can't run|@user_script: ?\\d+: -(?:${WORDS}) `,
);

/** What Redis adds to an answer that a script received. */
const ORIGIN_IN_SCRIPT = / script: [0-9a-f]{40}, on @user_script:\d+\.$/;

/** Why Redis did not execute a command: the error of a discarded transaction lists its causes in a separate field. */
function reasonOf(thrown: Error): Error {
  const { previousErrors } = thrown as { previousErrors?: unknown };
  const [first] = Array.isArray(previousErrors) ? (previousErrors as unknown[]) : [];
  return first instanceof Error ? first : thrown;
}

/**
 * Redis's own sentence, if it runs but refuses the command: it is a replica, cannot write to its disk, loads its data, runs
 * a long script, or does not take this client. The command can succeed later without a change. Undefined for any other
 * error. A full memory is not one of them (`saysFull`): then some commands still work.
 */
export function refusalOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  if (thrown instanceof RedisError) return refusalOf(thrown.cause);
  const { message } = reasonOf(thrown);
  return REFUSAL.test(message) ? message.replace(ORIGIN_IN_SCRIPT, '') : undefined;
}

/** Whether Redis rejected a command because it has no memory left. */
export function saysFull(thrown: unknown): boolean {
  if (thrown instanceof RedisError) return thrown.code === 'redis-full';
  return thrown instanceof Error && /\bOOM command not allowed/.test(reasonOf(thrown).message);
}

const LOST_CONNECTION =
  /Stream isn't writeable|Connection is closed|max retries per request|Command timed out|Socket timeout|^MOVED |ECONNREFUSED|ECONNRESET|EPIPE|connect ENOENT|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN/;

/**
 * Converts what a Redis command threw: an error of the connection, and an answer by which Redis refuses commands for a
 * while, become `RedisError` `redis-unreachable`; a full memory becomes `redis-full`; any other is returned as it is.
 */
export function asRedisError(thrown: unknown): unknown {
  if (thrown instanceof RedisError || !(thrown instanceof Error)) return thrown;
  if (saysFull(thrown)) {
    return new RedisError('redis-full', 'Redis has no memory left; nothing was stored.', { cause: thrown });
  }
  const refusal = refusalOf(thrown);
  if (refusal !== undefined) {
    return new RedisError(
      'redis-unreachable',
      `Redis refuses commands (${refusal}); the request may be sent again once it accepts them.`,
      { cause: thrown },
    );
  }
  const { message } = reasonOf(thrown);
  if (!LOST_CONNECTION.test(message)) return thrown;
  return new RedisError(
    'redis-unreachable',
    `Redis did not answer (${message}); the request may be sent again once it is back.`,
    { cause: thrown },
  );
}

/** The refusals that last until somebody changes the permissions, or frees the disk. */
const LASTING = /(?:^|: |-)(?:MISCONF|NOAUTH|WRONGPASS|NOPERM) |^ERR The user executing the script can't run/;

/** Whether waiting helps against what a Redis command threw: the connection is lost, or Redis refuses commands for a while. */
export function isOutage(thrown: unknown): boolean {
  const error = asRedisError(thrown);
  return (
    error instanceof RedisError && error.code === 'redis-unreachable' && !LASTING.test(refusalOf(error) ?? '')
  );
}
