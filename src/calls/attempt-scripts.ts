import type { Script, ScriptReply } from '../queues/run-script.js';

/** Runs a script for an attempt: lock token, id of the attempt, base of the spending keys and time come before its arguments. */
export type RunForAttempt = (
  script: Script,
  keys: readonly string[],
  args: readonly (number | string | Buffer)[],
  signal: AbortSignal,
) => Promise<readonly ScriptReply[]>;
