import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { packageVersion } from '../package-root.js';

/**
 * A name for a worker of this process: machine, process id, a nonce (process ids repeat, especially in containers), and the
 * version of the package. The names of its Redis connections and the jobs it takes contain it, so it has no spaces.
 */
export function workerName(): string {
  const machine = hostname().replace(/[^\w.-]/g, '-');
  return `${machine}:${process.pid}:${randomBytes(3).toString('hex')}@${packageVersion()}`;
}
