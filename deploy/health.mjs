// The health of the container that this runs in: exit code 0 for healthy, 1 and a reason on standard error for unhealthy.
// A gateway is healthy when its own /healthz says so; any other command when its Redis accepts writes.
import { readFileSync } from 'node:fs';

const LIMIT_MS = 8_000;
const words = readFileSync('/proc/1/cmdline', 'utf8').split('\0');
const command = words.slice(words.findIndex((word) => word.endsWith('cli/main.js')) + 1);

async function askGateway() {
  const flag = command.findIndex((word) => word === '--port' || word.startsWith('--port='));
  const port = flag === -1 ? '8080' : (command[flag].split('=')[1] ?? command[flag + 1]);
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(LIMIT_MS) });
  if (!answer.ok) throw new Error(`/healthz answers ${answer.status}: ${await answer.text()}`);
}

async function askRedis() {
  const { connectWithin } = await import('../dist/queues/connection.js');
  const { redisOptionsFrom } = await import('../dist/queues/redis-address.js');
  const options = { ...redisOptionsFrom(process.env.FLEET_REDIS_URL ?? ''), commandTimeout: LIMIT_MS };
  const { redisHealth } = await import('../dist/queues/redis-health.js');
  const client = await connectWithin(options, LIMIT_MS);
  const prefix = process.env.FLEET_PREFIX || 'fleet';
  const { redis, reason = '' } = await redisHealth(client, prefix, LIMIT_MS).finally(() =>
    client.disconnect(),
  );
  if (redis !== 'ok') throw new Error(`Redis: ${redis} ${reason}`);
}

try {
  await (command[0] === 'serve' ? askGateway() : askRedis());
} catch (thrown) {
  process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  process.exitCode = 1;
}
