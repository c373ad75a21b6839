import { type FleetProcesses, startFleetProcesses } from '../../test/field-reports/fleet-processes.js';
import type { Script } from '../../test/support/messages-api.js';
import { startTestRedis, type TestRedis } from '../../test/support/redis.js';

/** One situation at its full length. */
export interface SoakCase {
  /** For `--only`. */
  readonly name: string;
  /** The expected result, as a clause. */
  readonly about: string;
  /** Time after which the case has failed, in seconds. */
  readonly limitSeconds: number;
  /** @throws Error with the actual result. */
  run(environment: SoakEnvironment): Promise<void>;
}

/** The environment of a case; everything that is started in it ends with it. */
export class SoakEnvironment {
  readonly #closers: (() => Promise<unknown> | unknown)[] = [];

  private constructor(
    readonly name: string,
    readonly redis: TestRedis,
  ) {}

  /** @param redisArguments Further `redis-server` arguments. */
  static async open(name: string, redisArguments: readonly string[] = []): Promise<SoakEnvironment> {
    const redis = await startTestRedis(redisArguments);
    const environment = new SoakEnvironment(name, redis);
    environment.onClose(() => redis.stop());
    return environment;
  }

  /** Worker processes with the settings that a fleet has by default, except for those that are named. */
  async processes(reply: Script, env: Readonly<Record<string, string>> = {}): Promise<FleetProcesses> {
    const processes = await startFleetProcesses(this.redis, this.name, reply, {
      FLEET_LOCK_MS: '20000',
      FLEET_CALL_RETRIES: '4',
      ...env,
    });
    this.onClose(() => processes.close({ unfinished: true }));
    return processes;
  }

  /** Called at the end, the last one first. */
  onClose(closer: () => Promise<unknown> | unknown): void {
    this.#closers.push(closer);
  }

  async close(): Promise<void> {
    for (const closer of this.#closers.splice(0).reverse()) await closer();
  }
}

/** @throws Error with the message if the condition does not hold. */
export function hold(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** Polls until the result is there; the case's own limit ends it. */
export async function until(look: () => Promise<boolean> | boolean, everyMs = 200): Promise<void> {
  while (!(await look())) await new Promise((resolve) => setTimeout(resolve, everyMs));
}

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** A different payload for each name. */
export const script = (name: string, run = 'night') => ({
  solution: { content: `name = '${name}'\n` },
  tags: { run },
});
