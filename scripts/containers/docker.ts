import { execa, type Options } from 'execa';

export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | undefined;
}

export interface RunOptions {
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: ten minutes. */
  readonly timeoutMs?: number;
}

/** What of a shell would change what a fleet does, or what it is charged for. */
const OF_A_FLEET = /^(?:FLEET|ANTHROPIC|OTEL|COMPOSE|GRAFANA|DOCKER_DEFAULT)_/;

function plainEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || OF_A_FLEET.test(name) ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}

/** The `docker` client, talking to one engine. */
export class Docker {
  /** What programs need that use the same engine. */
  readonly environment: Readonly<Record<string, string>>;

  /** @param host Address of the engine; undefined: the one that the client talks to by itself. */
  constructor(host?: string) {
    this.environment = {
      ...plainEnvironment(),
      DOCKER_BUILDKIT: '1',
      ...(host === undefined ? {} : { DOCKER_HOST: host }),
    };
  }

  /** Runs a command to its end, whatever its exit code is. */
  async try(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const settings: Options = {
      reject: false,
      input: options.input ?? '',
      timeout: options.timeoutMs ?? 600_000,
      env: { ...this.environment, ...options.env },
      extendEnv: false,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    };
    const { stdout, stderr, exitCode, message } = await execa('docker', args, settings);
    const errors = exitCode === undefined ? `${String(stderr)}\n${message}` : String(stderr);
    return { stdout: String(stdout), stderr: errors, exitCode };
  }

  /** Runs a command and returns its standard output. @throws Error with what it said, if it fails. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { stdout, stderr, exitCode } = await this.try(args, options);
    if (exitCode === 0) return stdout;
    throw new Error(`docker ${args.join(' ')} ended with ${exitCode}:\n${stdout}\n${stderr}`.slice(-4_000));
  }

  /** A field of `docker inspect`, parsed. */
  async inspect<T>(name: string, field: string): Promise<T> {
    return JSON.parse(await this.run(['inspect', '--format', `{{json ${field}}}`, name])) as T;
  }

  async hasImage(tag: string): Promise<boolean> {
    return (await this.try(['image', 'inspect', tag])).exitCode === 0;
  }
}
