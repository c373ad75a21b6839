import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packagePath } from '../../src/package-root.js';
import { freePort } from '../../test/deploy/redis-processes.js';
import type { Docker, Ended, RunOptions } from './docker.js';

const NAME = 'solution-fleet-test';

/** A container of the project, as `docker compose ps` shows it. */
export interface Service {
  readonly id: string;
  readonly name: string;
  readonly service: string;
  readonly state: string;
  readonly health: string;
}

/** The unchanged Compose file as a project of its own, with its settings from an env file, as people have them. */
export class Project {
  readonly docker: Docker;
  readonly gatewayUrl: string;
  readonly #envFile: string;

  private constructor(docker: Docker, gatewayUrl: string, envFile: string) {
    this.docker = docker;
    this.gatewayUrl = gatewayUrl;
    this.#envFile = envFile;
  }

  static async create(docker: Docker, settings: Readonly<Record<string, string>>): Promise<Project> {
    const port = await freePort();
    const envFile = join(mkdtempSync(join(tmpdir(), 'compose-')), '.env');
    writeEnvFile(envFile, { ...settings, FLEET_GATEWAY_PORT: String(port) });
    return new Project(docker, `http://127.0.0.1:${port}`, envFile);
  }

  /** Runs `docker compose` in this project. @throws Error if it fails. */
  compose(args: readonly string[], options?: RunOptions): Promise<string> {
    return this.docker.run(this.#composeArgs(args), options);
  }

  try(args: readonly string[], options?: RunOptions): Promise<Ended> {
    return this.docker.try(this.#composeArgs(args), options);
  }

  /** All its containers, stopped ones included. */
  readonly containers = async (service?: string): Promise<Service[]> => {
    const format = '{{.ID}}\t{{.Names}}\t{{.Label "com.docker.compose.service"}}\t{{.State}}\t{{.Status}}';
    const filter = `label=com.docker.compose.project=${NAME}`;
    const text = await this.docker.run(['ps', '--all', '--filter', filter, '--format', format]);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [id = '', name = '', of = '', state = '', status = ''] = line.split('\t');
        return { id, name, service: of, state, health: /\((?:health: )?(\w+)\)/.exec(status)?.[1] ?? '' };
      })
      .filter((found) => service === undefined || found.service === service);
  };

  /** Adds a token, for which Redis is started if it does not run, and returns its text. */
  async addToken(name: string, role: string): Promise<string> {
    const command = ['token', 'add', name, '--role', role, '--json'];
    const added = await this.compose(['run', '--rm', '-T', 'gateway', ...command]);
    return (JSON.parse(added) as { token: string }).token;
  }

  /** Stops and removes everything, with the data. */
  async remove(): Promise<void> {
    await this.try(['--profile', 'observe', 'down', '--volumes', '--remove-orphans', '--timeout', '5']);
  }

  /** The beginning of every `docker compose` in this project, for scripts. */
  get command(): string {
    return ['docker', ...this.#composeArgs([])].join(' ');
  }

  #composeArgs(args: readonly string[]): string[] {
    const file = packagePath('docker-compose.yml');
    return [...['compose', '--project-name', NAME, '--file', file, '--env-file', this.#envFile], ...args];
  }
}

export function writeEnvFile(path: string, settings: Readonly<Record<string, string>>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(path, lines.join(''));
}
