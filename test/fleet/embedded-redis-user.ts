// A command that uses the embedded Redis, as a separate process: `tsx embedded-redis-user.ts [FOLDER]`.
// Without FOLDER it uses a throw-away Redis. Prints `acquired URL` once it has the server, releases it at a line on standard input, prints `released`.
// What it cannot do, it prints as `failed CODE MESSAGE`.
import { once } from 'node:events';
import { toFleetError } from '../../src/errors.js';
import { acquireEmbeddedRedis, acquireThrowawayRedis } from '../../src/fleet/embedded-redis.js';

async function useRedis(): Promise<void> {
  try {
    const folder = process.argv[2];
    const redis = await (folder === undefined ? acquireThrowawayRedis() : acquireEmbeddedRedis(folder));
    console.log(`acquired ${redis.url}`);
    await once(process.stdin, 'data');
    await redis.release();
    console.log('released');
  } catch (thrown) {
    const { code, message } = toFleetError(thrown);
    console.log(`failed ${code} ${message}`);
  }
  process.stdin.destroy();
}

await useRedis();
