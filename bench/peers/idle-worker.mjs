// A bare BullMQ worker process with nothing to do. Plain JavaScript, so that no loader counts as its memory.
import { Worker } from 'bullmq';

const { REDIS_SOCKET: path, PREFIX: prefix } = process.env;
const worker = new Worker('idle', async () => 'done', { connection: { path }, prefix });
await worker.waitUntilReady();
process.stdout.write('ready\n');
