import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A Lua script of the fleet, with the digest under which Redis caches it. */
export interface Script {
  readonly source: string;
  readonly digest: string;
}

export function script(...parts: readonly string[]): Script {
  const source = parts.join('\n');
  return { source, digest: createHash('sha1').update(source, 'utf8').digest('hex') };
}

/** What a script returns; texts are bytes, because answers are stored compressed. */
export type ScriptReply = Buffer | number | null | readonly ScriptReply[];

/** Runs a script in one round trip; if Redis has not cached it yet, a second one sends its text. */
export async function runScript(
  client: Redis,
  { source, digest }: Script,
  keys: readonly string[],
  args: readonly (string | number | Buffer)[],
): Promise<ScriptReply> {
  const rest = [keys.length, ...keys, ...args];
  try {
    return (await client.callBuffer('EVALSHA', digest, ...rest)) as ScriptReply;
  } catch (thrown) {
    if (!(thrown instanceof Error && thrown.message.startsWith('NOSCRIPT'))) throw thrown;
    return (await client.callBuffer('EVAL', source, ...rest)) as ScriptReply;
  }
}

/** The reply as a list; a script that returns something else is broken. */
export function replyList(reply: ScriptReply): readonly ScriptReply[] {
  if (Array.isArray(reply)) return reply;
  throw new TypeError('the script did not return a list');
}

/** A text of a reply; undefined if there is none. */
export function replyText(reply: ScriptReply | undefined): string | undefined {
  if (reply === null || reply === undefined) return undefined;
  return Buffer.isBuffer(reply) ? reply.toString('utf8') : String(reply);
}
