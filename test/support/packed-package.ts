import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packagePath } from '../../src/package-root.js';

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>;
}

/**
 * The package as a stranger gets it: packed, and unpacked into an empty folder beside the packages that it depends on, and
 * no others. Those are the ones of package-lock.json (package.json names exact versions), linked: that npm downloads and
 * unpacks 130 packages would be the longest part of the test, and says nothing about this one.
 */
export class PackedPackage {
  private constructor(
    /** Files in the tarball, relative to the package. */
    readonly files: readonly string[],
    /** Another user's project that has the package installed. */
    readonly project: string,
  ) {}

  static install(): PackedPackage {
    const root = packagePath();
    // A folder with a space, as users have them.
    const scratch = mkdtempSync(join(tmpdir(), 'fleet-pack '));
    mustRun(process.execPath, [packagePath('scripts', 'build.mjs')], root);
    const packed = mustRun(
      'npm',
      ['pack', '--ignore-scripts', '--json', '--pack-destination', scratch],
      root,
      { NODE_OPTIONS: `--import ${dataUrl(WITHOUT_COMPRESSION)}` },
    );
    const [{ filename, files }] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }];
    const project = join(scratch, 'project');
    mkdirSync(project);
    const manifest = { name: 'stranger', private: true, type: 'module' };
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
    const modules = join(project, 'node_modules');
    const own = join(modules, 'solution-fleet');
    mkdirSync(join(modules, '.bin'), { recursive: true });
    mustRun('tar', ['-xzf', filename], scratch);
    renameSync(join(scratch, 'package'), own);
    const { bin } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as Manifest;
    for (const [name, path] of Object.entries(bin)) symlinkSync(join(own, path), join(modules, '.bin', name));
    for (const path of dependencyPaths(root)) {
      mkdirSync(dirname(join(project, path)), { recursive: true });
      symlinkSync(join(root, path), join(project, path));
    }
    return new PackedPackage(
      files.map(({ path }) => path),
      project,
    );
  }

  run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Ended {
    const { status, stdout, stderr, error } = spawnSync(program, args, {
      cwd: this.project,
      encoding: 'utf8',
      env: { ...process.env, ...env },
    });
    if (error !== undefined) throw error;
    return { status, stdout, stderr };
  }

  /** Runs JavaScript as a module of the stranger's project. */
  evaluate(code: string, nodeOptions: readonly string[] = []): Ended {
    return this.run(process.execPath, [...nodeOptions, '--input-type=module', '--eval', code]);
  }

  /**
   * Imports one entry after the other in one process.
   * @returns by entry, the names of all packages of which any module is loaded by then, ESM and CommonJS alike
   */
  packagesLoadedBy(specifiers: readonly string[]): Map<string, ReadonlySet<string>> {
    // The debugger hears of each script that is compiled, be it a module or CommonJS.
    const code = `import { Session } from 'node:inspector';
      const urls = [];
      const debugging = new Session();
      debugging.connect();
      debugging.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url));
      debugging.post('Debugger.enable');
      const parts = [];
      for (const specifier of ${JSON.stringify(specifiers)}) {
        await import(specifier);
        parts.push(urls.splice(0));
      }
      debugging.disconnect();
      process.stdout.write(JSON.stringify(parts), () => process.exit());`;
    const { status, stdout, stderr } = this.evaluate(code);
    if (status !== 0 || stderr !== '') throw new Error(stderr);
    const loaded = new Set<string>();
    const parts = JSON.parse(stdout) as string[][];
    return new Map(
      specifiers.map((specifier, at) => {
        for (const path of (parts[at] ?? []).map(decodeURIComponent)) {
          const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
          if (name !== undefined) loaded.add(name);
        }
        return [specifier, new Set(loaded)];
      }),
    );
  }

  installedPackages(): string[] {
    return readdirSync(join(this.project, 'node_modules'));
  }
}

/** npm compresses as well as it can, which is a third of the time that it takes to pack. */
const WITHOUT_COMPRESSION = `import zlib from 'node:zlib';
  zlib.Gzip = class extends zlib.Gzip { constructor(options) { super({ ...options, level: 0 }); } };`;

const dataUrl = (module: string) => `data:text/javascript,${encodeURIComponent(module)}`;

/** Folders of the packages that an installed package has beside it; what one needs for itself alone lies in its own. */
export function dependencyPaths(root: string): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  return Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path.lastIndexOf('node_modules/') === 0 && !dev && !devOptional)
    .map(([path]) => path)
    .filter((path) => existsSync(join(root, path)));
}

function mustRun(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): string {
  const options = { cwd, encoding: 'utf8', env: { ...process.env, ...env } } as const;
  const { status, stdout, stderr, error } = spawnSync(program, args, options);
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}
