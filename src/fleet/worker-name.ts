import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { packagePath } from '../package-root.js';

/**
 * A name for a worker of this process: machine, process number, a nonce (process numbers come again, in containers
 * above all), and the version of the package. It stands in the names of its connections to Redis and on the jobs it
 * takes, so it holds no space.
 */
export function workerName(): string {
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string };
  const machine = hostname().replace(/[^\w.-]/g, '-');
  return `${machine}:${process.pid}:${randomBytes(3).toString('hex')}@${version}`;
}
