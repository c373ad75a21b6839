// A command that uses the embedded Redis, as a process of its own: `tsx embedded-redis-user.ts FOLDER`.
// Prints `acquired URL` once it has the server, releases it at a line on standard input, prints `released`.
// What it cannot do, it prints as `failed CODE MESSAGE`.
import { once } from 'node:events';
import { toFleetError } from '../../src/errors.js';
import { acquireEmbeddedRedis } from '../../src/fleet/embedded-redis.js';

try {
  const redis = await acquireEmbeddedRedis(process.argv[2] ?? '.');
  console.log(`acquired ${redis.url}`);
  await once(process.stdin, 'data');
  await redis.release();
  console.log('released');
} catch (thrown) {
  const { code, message } = toFleetError(thrown);
  console.log(`failed ${code} ${message}`);
}
process.stdin.destroy();
