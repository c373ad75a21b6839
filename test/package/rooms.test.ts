import { readdirSync } from 'node:fs';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';
import { importsOf, type SourceImport, sourceImports } from '../support/source-imports.js';

/** Modules that every room may use. */
const LEAVES = [
  'errors',
  'error-table',
  'package-root',
  'processor-time',
  'config',
  'tenant-queue',
  'event-loop',
  'async',
  'open-descriptor',
  'link-boundary',
  'nearest-name',
  'known-options',
  'percent',
];

/** Rooms that each room may import. Before you add another, consider whether the dependency should exist. */
const ALLOWED_ROOMS: Readonly<Record<string, readonly string[]>> = {
  config: [],
  'package-root': [],
  'processor-time': [],
  'error-table': [],
  'tenant-queue': [],
  'event-loop': [],
  async: [],
  'open-descriptor': [],
  'link-boundary': [],
  'nearest-name': [],
  'known-options': [],
  'code-cache': [],
  // Types only: an agent's error carries what its calls used.
  errors: ['queues'],
  // The contract of a kind names the settings of its computation.
  queues: ['contamination'],
  payloads: ['queues'],
  solution: [],
  leakage: ['solution'],
  ablation: ['solution'],
  contamination: [],
  calls: ['queues'],
  trial: ['queues', 'solution'],
  agents: ['queues', 'solution', 'leakage', 'ablation', 'calls'],
  processors: ['agents', 'calls', 'solution', 'leakage', 'ablation', 'contamination', 'queues', 'trial'],
  // The fleet-wide set of known solutions: texts and fingerprints in Redis.
  known: ['contamination', 'queues'],
  producers: ['queues', 'payloads', 'known'],
  fleet: [
    'processors',
    'producers',
    'agents',
    'calls',
    'contamination',
    'known',
    'queues',
    'payloads',
    'trial',
  ],
  // Jobs' work without a fleet, with the threads of a worker.
  local: ['processors', 'fleet', 'agents', 'queues', 'trial'],
  // An ended job as a file, and its processor run again.
  recordings: ['processors', 'producers', 'fleet', 'agents', 'calls', 'queues', 'trial'],
  testing: ['recordings', 'processors', 'producers', 'fleet', 'agents', 'calls', 'queues'],
  // What an editor shows of local work.
  // What an agent may have done: here, or by jobs.
  mcp: ['local', 'processors', 'agents', 'leakage', 'contamination', 'producers', 'queues'],
  'language-server': ['local', 'processors', 'agents', 'leakage', 'solution'],
  gateway: ['producers', 'queues'],
  // Of the producers the types, and the check of option names: the client loads no queue.
  'http-client': ['producers', 'queues'],
};
/** The public entries and the command line put the rooms together. */
const ASSEMBLIES = ['index', 'worker', 'cli'];

/** Packages of the rooms that only compute: they know no queue, no Redis, no HTTP, no provider. */
const PURE_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  solution: ['web-tree-sitter', 'diff', 'zod'],
  leakage: ['zod'],
  ablation: ['zod'],
  contamination: ['js-tokens', 'zod'],
};
const HTTP_PACKAGES = ['express', '@bull-board/api', '@bull-board/express'];
const FORBIDDEN_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  config: ['bullmq', 'ioredis', '@anthropic-ai/sdk', ...HTTP_PACKAGES],
  queues: ['@anthropic-ai/sdk', ...HTTP_PACKAGES],
  agents: ['bullmq', ...HTTP_PACKAGES],
  calls: ['bullmq', ...HTTP_PACKAGES],
  processors: ['@anthropic-ai/sdk', ...HTTP_PACKAGES],
  producers: ['@anthropic-ai/sdk', ...HTTP_PACKAGES],
  fleet: ['@anthropic-ai/sdk', ...HTTP_PACKAGES],
  local: ['bullmq', 'ioredis', '@anthropic-ai/sdk', ...HTTP_PACKAGES],
  'language-server': ['bullmq', 'ioredis', '@anthropic-ai/sdk', ...HTTP_PACKAGES],
  gateway: ['@anthropic-ai/sdk'],
};

const imports = sourceImports();

function show({ file, target }: SourceImport): string {
  return `${file} imports ${target}`;
}

describe('the rooms of src/', () => {
  it('are all in the table, so that a new room gets its rule', () => {
    const known = [...Object.keys(ALLOWED_ROOMS), ...ASSEMBLIES];
    const rooms = new Set(imports.map(({ room }) => room));
    expect([...rooms]).toEqual(expect.arrayContaining(['agents', 'cli', 'fleet', 'processors', 'queues']));
    expect([...rooms].filter((room) => !known.includes(room))).toEqual([]);
  });

  it('import only the rooms that they may know', () => {
    const wrong = imports.filter(({ room, target }) => {
      if (!target.startsWith('room:') || ASSEMBLIES.includes(room)) return false;
      return ![...LEAVES, ...(ALLOWED_ROOMS[room] ?? [])].includes(target.slice('room:'.length));
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('have no arrows in a circle', () => {
    const circles = Object.keys(ALLOWED_ROOMS).filter((room) => reachable(room).has(room));
    expect(circles).toEqual([]);
  });

  it('that only compute import nothing that reaches out', () => {
    const wrong = imports.filter(({ room, target }) => {
      const packages = PURE_PACKAGES[room];
      return packages !== undefined && !target.startsWith('room:') && !packages.includes(target);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('import no package that is another room’s business', () => {
    const wrong = imports.filter(({ room, target }) => FORBIDDEN_PACKAGES[room]?.includes(target));
    expect(wrong.filter(({ typeOnly }) => !typeOnly).map(show)).toEqual([]);
  });

  it('let errors.ts know the contracts by type only', () => {
    expect(
      imports.filter(
        ({ room, target, typeOnly }) => room === 'errors' && target !== 'room:error-table' && !typeOnly,
      ),
    ).toEqual([]);
  });
});

/** What a process or thread loads at its start: each of these would take a good part of the time that it takes to start. */
const PACKAGES_AT_START: Readonly<Record<string, readonly string[]>> = {
  'src/cli/main.ts': ['picocolors'],
  'src/cli/run-program.ts': ['commander', 'picocolors'],
  'src/cli/isolated-process.ts': ['fastest-levenshtein', 'ioredis', 'piscina', 'zod'],
  'src/fleet/analysis-task.ts': ['diff', 'web-tree-sitter'],
  'src/fleet/embedded-redis-supervisor.ts': [],
};

/** Packages that one command needs, and nobody who runs another one may wait for. */
const OF_ONE_COMMAND = [
  'vscode-languageserver/node',
  'vscode-languageserver-textdocument',
  '@modelcontextprotocol/sdk/server/mcp.js',
  '@modelcontextprotocol/sdk/server/stdio.js',
  '@modelcontextprotocol/sdk/server/streamableHttp.js',
];

/** The packages that a module loads with it: what it imports only when it is needed does not count. */
async function packagesLoadedWith(entries: readonly string[]): Promise<Record<string, string[]>> {
  const { metafile } = await build({
    absWorkingDir: packagePath('.'),
    entryPoints: [...entries],
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outdir: 'out',
  });
  const packagesFrom = (entry: string) => {
    const seen = new Set([entry]);
    // A set that grows while it is walked is walked to its new end.
    for (const file of seen) {
      const imports = metafile.inputs[file]?.imports ?? [];
      for (const { kind, path } of imports) if (kind !== 'dynamic-import') seen.add(path);
    }
    return [...seen].filter((path) => !path.startsWith('src/') && !path.startsWith('node:')).sort();
  };
  return Object.fromEntries(entries.map((entry) => [entry, packagesFrom(entry)]));
}

describe('processes and threads', () => {
  it('load no packages at their start but those that they always need', async () => {
    expect(await packagesLoadedWith(Object.keys(PACKAGES_AT_START))).toEqual(PACKAGES_AT_START);
  });

  it('load what one command needs for that command alone: not for the help, and not in a program', async () => {
    const commands = readdirSync(packagePath('src', 'cli', 'commands')).map(
      (name) => `src/cli/commands/${name}`,
    );
    const rooms = OF_ONE_COMMAND.map((name) => imports.filter(({ target }) => name.startsWith(target)));
    expect(rooms.every((found) => found.length > 0)).toBe(true);
    const loaded = await packagesLoadedWith([...commands, 'src/index.ts', 'src/worker.ts']);
    const wrong = Object.entries(loaded).filter(([, packages]) =>
      OF_ONE_COMMAND.some((name) => packages.includes(name)),
    );
    expect(wrong).toEqual([]);
  });
});

describe('the files of src/', () => {
  it('have no imports in a circle, except for those of types', async () => {
    const { metafile } = await build({
      absWorkingDir: packagePath('.'),
      entryPoints: ['src/index.ts', 'src/worker.ts', 'src/cli/main.ts'],
      bundle: true,
      write: false,
      metafile: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      outdir: 'out',
    });
    const files = Object.entries(metafile.inputs);
    expect(files.length).toBeGreaterThan(300);
    const importsOfFile = new Map(
      files.map(([file, { imports }]) => [file, imports.map(({ path }) => path)]),
    );
    // Files that import none of those left are taken away; what stays is in a circle, or leads into one.
    let left = [...importsOfFile.keys()];
    for (let before = Number.POSITIVE_INFINITY; left.length < before; ) {
      before = left.length;
      const among = new Set(left);
      left = left.filter((file) => importsOfFile.get(file)?.some((target) => among.has(target)));
    }
    expect(left).toEqual([]);
  });
});

describe('reading import statements', () => {
  it('finds every form, and no text that only looks like one', () => {
    const text = [
      "import { Redis } from 'ioredis';",
      "import type Anthropic from '@anthropic-ai/sdk/resources/messages';",
      "import {\n  one,\n  two,\n} from '../queues/kind.js';",
      "export * from '../errors.js';",
      "import '../config/settings.js';",
      "const sdk = await import('express');",
      "import { join } from 'node:path';",
      "import { own } from './deeper/own.js';",
      "const text = `import { no } from 'nowhere'`;",
      "  // import { no } from 'nowhere';",
    ].join('\n');
    expect(importsOf('agents/ask.ts', text).map(({ target, typeOnly }) => [target, typeOnly])).toEqual([
      ['ioredis', false],
      ['@anthropic-ai/sdk', true],
      ['room:queues', false],
      ['room:errors', false],
      ['room:config', false],
      ['express', false],
    ]);
  });
});

function reachable(start: string): Set<string> {
  const found = new Set<string>();
  const open = [...(ALLOWED_ROOMS[start] ?? [])];
  for (let room = open.pop(); room !== undefined; room = open.pop()) {
    // A type-only arrow leaves nothing in the compiled code.
    if (found.has(room) || room === 'errors') continue;
    found.add(room);
    open.push(...(ALLOWED_ROOMS[room] ?? []));
  }
  return found;
}
