import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { packagePath } from '../../src/package-root.js';
import { freePort } from '../../test/deploy/redis-processes.js';
import { until } from '../testing/checks.js';

const SCRAPE = '1s';
const START_MS = 60_000;

interface Rule {
  readonly alert: string;
  for?: string;
}

interface RuleFile {
  readonly groups: readonly { readonly rules: Rule[] }[];
}

interface Configuration {
  global: { scrape_interval: string; evaluation_interval: string };
  scrape_configs: {
    authorization: { credentials_file: string };
    static_configs: { targets: string[] }[];
  }[];
}

/** An alert that is pending or firing. */
export interface ActiveAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly state: string;
}

/** The rules that are shipped, by their file. */
export const RULES = packagePath('deploy', 'prometheus', 'alerts.yml');
export const CONFIGURATION = packagePath('deploy', 'prometheus', 'prometheus.yml');

export function alertNames(): string[] {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as RuleFile;
  return groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
}

/** A real Prometheus with the shipped configuration, but that it looks every second and no alert has to last. */
export class Prometheus {
  readonly #process: ChildProcess;
  readonly #url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#process = child;
    this.#url = url;
  }

  /** @param token of the role `read` at the gateway */
  static async start(gatewayUrl: string, token: string): Promise<Prometheus> {
    const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
    const rules = parse(readFileSync(RULES, 'utf8')) as RuleFile;
    for (const rule of rules.groups.flatMap((group) => group.rules)) delete rule.for;
    writeFileSync(join(folder, 'alerts.yml'), stringify(rules));
    writeFileSync(join(folder, 'token'), token);
    const configuration = parse(readFileSync(CONFIGURATION, 'utf8')) as Configuration;
    configuration.global = { scrape_interval: SCRAPE, evaluation_interval: SCRAPE };
    for (const job of configuration.scrape_configs) {
      job.authorization.credentials_file = join(folder, 'token');
      job.static_configs = [{ targets: [new URL(gatewayUrl).host] }];
    }
    writeFileSync(join(folder, 'prometheus.yml'), stringify(configuration));
    const address = `127.0.0.1:${await freePort()}`;
    const child = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=${address}`,
        '--log.level=error',
      ],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
    const prometheus = new Prometheus(child, `http://${address}`);
    await until('Prometheus has scraped the gateway', START_MS, async () =>
      (await prometheus.#values('up == 1')) > 0 ? true : undefined,
    );
    return prometheus;
  }

  /** How many series an expression returns. */
  async seriesOf(expression: string): Promise<number> {
    return (await this.#query(expression)).length;
  }

  /** The first value of an expression; undefined if it has none. */
  async valueOf(expression: string): Promise<number | undefined> {
    const [first] = await this.#query(expression);
    return first === undefined ? undefined : Number(first.value[1]);
  }

  async firing(): Promise<ActiveAlert[]> {
    const { alerts } = await this.#get<{ alerts: ActiveAlert[] }>('/api/v1/alerts');
    return alerts.filter(({ state }) => state === 'firing');
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGTERM');
    await once(this.#process, 'exit');
  }

  /** As `seriesOf`; 0 while it does not listen. */
  async #values(expression: string): Promise<number> {
    try {
      return await this.seriesOf(expression);
    } catch (thrown) {
      if (thrown instanceof TypeError || thrown instanceof NotReady) return 0;
      throw thrown;
    }
  }

  async #query(expression: string): Promise<{ value: [number, string] }[]> {
    const path = `/api/v1/query?${new URLSearchParams({ query: expression })}`;
    return (await this.#get<{ result: { value: [number, string] }[] }>(path)).result;
  }

  async #get<Data>(path: string): Promise<Data> {
    const answer = await fetch(`${this.#url}${path}`);
    if (answer.status === 503) throw new NotReady('Prometheus is not ready');
    const body = (await answer.json()) as { status: string; error?: string; data: Data };
    if (body.status !== 'success') throw new Error(`Prometheus: ${body.error}`);
    return body.data;
  }
}

class NotReady extends Error {}
