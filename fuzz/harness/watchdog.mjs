/**
 * A second thread besides the one that runs inputs. It ends the process if an input has used far more processor time than
 * its bound: the thread that runs the input may be busy in one expression and handle no events. It is JavaScript because
 * Node accepts no TypeScript as the file of a thread.
 */
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const INTERVAL_MS = 200;
const { memory, message } = workerData;
/** In milliseconds of processor time: when the input began (0: none runs), and what it may use before it is ended. */
const cells = new Float64Array(memory);

setInterval(() => {
  const [start, allowed] = cells;
  const { user, system } = process.cpuUsage();
  if (start === 0 || (user + system) / 1_000 - start <= allowed) return;
  writeSync(2, `${message}\n`);
  process.kill(process.pid, 'SIGKILL');
}, INTERVAL_MS);
