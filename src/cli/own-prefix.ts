import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';

/**
 * The prefix of one invocation's own queues: workers of the fleet, which may have other agents, do not see its jobs.
 * It says whose it is, so that a later invocation can remove what a killed one left.
 */
export function ephemeralPrefix(shared: string): string {
  return `${shared}-${process.pid}-${randomBytes(4).toString('hex')}`;
}

const OWN = /-(\d+)-[0-9a-f]{8}$/;
const KEYS_A_STEP = 1_000;

/** Names this connection after the prefix, for as long as it lives: so that others see that it is in use. */
export async function holdPrefix(client: Redis, prefix: string): Promise<void> {
  const name = ownerName(prefix);
  // Redis forgets the name with the connection.
  client.on('ready', () => void client.client('SETNAME', name).catch(() => undefined));
  await client.client('SETNAME', name);
}

/** Redis takes no spaces or letters beyond ASCII in the name of a connection; the prefix may have some. */
function ownerName(prefix: string): string {
  return `own${OWN.exec(prefix)?.[0] ?? ''}`;
}

/** Removes every key below a prefix. */
export async function removePrefix(client: Redis, prefix: string): Promise<void> {
  for await (const keys of keysLike(client, `${literal(prefix)}:*`)) await client.unlink(...keys);
}

/** Removes what invocations left that were killed: their process is gone, and so is their connection. */
export async function sweepOwnPrefixes(client: Redis, shared: string): Promise<void> {
  const left = new Set<string>();
  for await (const keys of keysLike(client, `${literal(shared)}-*`)) {
    for (const key of keys) {
      const prefix = key.slice(0, key.indexOf(':'));
      if (OWN.test(prefix.slice(shared.length))) left.add(prefix);
    }
  }
  if (left.size === 0) return;
  // A process in another container is not seen from here; its connection is.
  const connections = String(await client.client('LIST'));
  for (const prefix of left) {
    if (connections.includes(` name=${ownerName(prefix)} `)) continue;
    if (!isRunning(Number(OWN.exec(prefix)?.[1]))) await removePrefix(client, prefix);
  }
}

async function* keysLike(client: Redis, pattern: string): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    const [next, keys] = await client.scan(cursor, 'MATCH', pattern, 'COUNT', KEYS_A_STEP);
    if (keys.length > 0) yield keys;
    cursor = next;
  } while (cursor !== '0');
}

/** The pattern that matches a text alone. */
function literal(text: string): string {
  return text.replace(/[\\*?[\]^-]/g, '\\$&');
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}
