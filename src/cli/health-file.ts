import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { messageOf } from '../errors.js';
import type { Logger } from '../fleet/logger.js';
import type { FleetWorker } from '../fleet/worker.js';

const WRITE_MS = 5_000;

/**
 * Tells health checks of the machine how a worker does, without a port: a file that is written every five seconds, with what
 * prevents the worker from working, or empty. An old one says that the event loop is blocked.
 */
export class HealthFile {
  readonly #path: string | undefined;
  readonly #timer: NodeJS.Timeout | undefined;

  /** @param path `FLEET_HEALTH_FILE`; undefined: nothing is written. */
  constructor(path: string | undefined, worker: Pick<FleetWorker, 'problem'>, logger: Logger) {
    this.#path = path;
    if (path === undefined) return;
    const write = () => {
      try {
        // A reader never sees half of it.
        writeFileSync(`${path}.new`, worker.problem ?? '');
        renameSync(`${path}.new`, path);
      } catch (thrown) {
        logger.warn({ reason: messageOf(thrown) }, 'the health file cannot be written');
      }
    };
    write();
    this.#timer = setInterval(write, WRITE_MS);
    this.#timer.unref();
  }

  /** For the end of the worker. */
  remove(): void {
    if (this.#path === undefined) return;
    clearInterval(this.#timer);
    rmSync(this.#path, { force: true });
  }
}
