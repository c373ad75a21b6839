import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { packagePath } from '../../src/package-root.js';
import { dependencyPaths } from '../support/packed-package.js';

const UNSHARE = ['--mount', '--pid', '--fork', '--mount-proc'];

/** The image's user, without privileges or a way to them, as Compose and Kubernetes run it. */
const AS_USER = [
  'setpriv',
  ...['--reuid=1000', '--regid=1000', '--clear-groups', '--no-new-privs'],
  ...['--inh-caps=-all', '--bounding-set=-all'],
];

/** Makes the tree `/srv/app`, everything read-only but an empty `/tmp`, then becomes the user and the command. */
const ENTER = `set -eu
mount -t tmpfs tmpfs /srv
mkdir /srv/app
mount --bind "$1" /srv/app
mount -o remount,bind,ro /srv/app
mount -o remount,ro /srv
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -o remount,bind,ro /
cd /srv/app
shift
exec ${AS_USER.join(' ')} "$@"`;

/** Why nothing can be run as in a container here; undefined where it can. */
export function noContainersBecause(): string | undefined {
  if (process.platform !== 'linux') return 'namespaces are Linux only';
  if (process.getuid?.() !== 0) return 'only root may become another user';
  const { status, stderr, error } = spawnSync('unshare', [...UNSHARE, 'setpriv', '--version'], {
    encoding: 'utf8',
  });
  return status === 0 ? undefined : `unshare and setpriv do not work (${error?.message ?? stderr.trim()})`;
}

/** The image's /app is here: a read-only root file system of this machine may have no such folder. */
const inTree = (word: string) => word.replace(/^\/app\//, '/srv/app/');

/** What the Dockerfile says of its last stage. */
export const IMAGE = (() => {
  const stage =
    readFileSync(packagePath('Dockerfile'), 'utf8')
      .split(/^FROM /m)
      .at(-1) ?? '';
  const list = (instruction: string): string[] => {
    const words = new RegExp(`^${instruction}.*?(\\[.*\\])$`, 'm').exec(stage)?.[1];
    return (JSON.parse(words ?? '[]') as string[]).map(inTree);
  };
  return {
    copies: [...stage.matchAll(/^COPY (?:--from=\S+ )?(.+) (\S+)$/gm)].map(
      ([, sources = '', target = '']) => ({
        sources: sources.split(' ').map((source) => source.replace(/^\/app\//, '')),
        target,
      }),
    ),
    env: Object.fromEntries(
      [...stage.matchAll(/^(?:ENV| {3}) (\w+)=(\S+)/gm)].map(([, name, value]) => [name, value]),
    ),
    // tini may not be installed here: node is process 1 itself then, which is harder on it.
    entrypoint: list('ENTRYPOINT').filter((word) => word !== 'tini' && word !== '--'),
    command: list('CMD'),
    healthcheck: list('HEALTHCHECK'),
  };
})();

/** The image's `/app`: what the Dockerfile copies, with the packages that a production installation has. */
export function imageTree(): string {
  const tree = mkdtempSync(join(tmpdir(), 'image-'));
  chmodSync(tree, 0o755);
  const packages = dependencyPaths(packagePath());
  for (const { sources, target } of IMAGE.copies) {
    // Made in the build; nothing reads it.
    if (sources.includes('sbom.cdx.json')) continue;
    const paths = sources.flatMap((source) => (source === 'node_modules' ? packages : [source]));
    if (target === './' || sources.includes('node_modules')) copy(['--parents', ...paths, tree]);
    else {
      mkdirSync(dirname(join(tree, target)), { recursive: true });
      copy([...paths, join(tree, target)]);
    }
  }
  return tree;
}

/** Copies files of this package, as links where the file system is the same: nobody writes to the tree. */
function copy(args: readonly string[]): void {
  const cp = (flags: string) => spawnSync('cp', [flags, ...args], { cwd: packagePath(), encoding: 'utf8' });
  if (cp('-al').status === 0) return;
  const { status, stderr } = cp('-af');
  if (status !== 0) throw new Error(`cp ${args.join(' ')} ended with ${status}:\n${stderr}`);
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** A command of the image, run as its user on a read-only root file system, as process 1. */
export class ContainerProcess {
  readonly #child: ChildProcess;
  readonly #environment: Record<string, string>;
  readonly #lines: string[] = [];
  readonly #onLine = new Set<() => void>();
  /** Resolves when it has ended. */
  readonly ended: Promise<Ended>;

  constructor(tree: string, command: readonly string[], env: Readonly<Record<string, string>>) {
    this.#environment = { PATH: process.env.PATH ?? '', ...IMAGE.env, ...env };
    const args = [...UNSHARE, 'sh', '-c', ENTER, 'sh', tree, ...command];
    this.#child = spawn('unshare', args, { env: this.#environment, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        this.#lines.push(line);
        for (const notify of this.#onLine) notify();
      });
    }
    this.ended = once(this.#child, 'close').then(([code]) => ({
      code: code as number | null,
      output: this.#lines.join('\n'),
    }));
  }

  /** Resolves with the first line that holds a text; rejects where it ends without. */
  async printed(text: string): Promise<string> {
    const line = new Promise<string>((resolve) => {
      const look = () => {
        const found = this.#lines.find((candidate) => candidate.includes(text));
        if (found !== undefined) resolve(found);
      };
      this.#onLine.add(look);
      look();
    });
    const early = this.ended.then(({ code, output }) => {
      throw new Error(`it ended with ${code} without printing "${text}":\n${output}`);
    });
    return Promise.race([line, early]);
  }

  /** Runs a second command inside, as a health check is run. */
  async execute(command: readonly string[]): Promise<Ended> {
    const enter = `cd /srv/app; exec ${AS_USER.join(' ')} "$@"`;
    const args = ['-t', String(this.#innerPid()), '-m', '-p', 'sh', '-c', enter, 'sh', ...command];
    const child = spawn('nsenter', args, { env: this.#environment, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    const [code] = await once(child, 'close');
    return { code: code as number | null, output };
  }

  /** Sends a signal to process 1, as a container engine does. */
  signal(signal: NodeJS.Signals): void {
    process.kill(this.#innerPid(), signal);
  }

  /** Ends it at once, if it still runs. */
  async kill(): Promise<void> {
    // Not its parent: the death of that one is told to no process that has changed its user.
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.signal('SIGKILL');
    await this.ended;
  }

  #innerPid(): number {
    const { pid } = this.#child;
    const inner = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
    if (!Number.isInteger(inner) || inner < 2) throw new Error(`it does not run:\n${this.#lines.join('\n')}`);
    return inner;
  }
}
