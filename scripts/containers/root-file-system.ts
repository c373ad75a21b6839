import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { execa, execaSync } from 'execa';
import { must } from '../testing/checks.js';

/** Folders of a Debian that are links into /usr. */
const MERGED = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
/** Left out, as the slim images do; licenses stay. */
const NO_NEED = /^\/usr\/share\/(?:doc\/(?!.*\/copyright$)|doc-base|man|info|locale|lintian|bug)\b.*[^/]$/;
/** Beside the essential ones: what the images of Debian have, and a build needs. */
const PACKAGES = ['apt', 'ca-certificates', 'libstdc++6', 'debian-archive-keyring', 'tzdata'];
/** How programs learn of a proxy or of certificates of one's own. */
const NETWORK_VARIABLE =
  /^(?:https?_proxy|no_proxy|all_proxy|ssl_cert_(?:file|dir)|node_extra_ca_certs|npm_config_(?:registry|cafile))$/i;

/** A root file system, made of the installed packages of this machine, which must be a Debian; needs root. */
export class RootFileSystem {
  readonly folderPath: string;

  constructor(folderPath: string) {
    this.folderPath = folderPath;
    mkdirSync(folderPath, { recursive: true });
    chmodSync(folderPath, 0o755);
  }

  /** The smallest Debian that has apt, as its package manager knows it. */
  async addDebian(): Promise<void> {
    const installed = await installedPackages();
    const wanted = closure(installed, [
      ...[...installed.values()].filter(({ essential }) => essential).map(({ name }) => name),
      ...PACKAGES.filter((name) => installed.has(name)),
    ]);
    for (const name of MERGED.filter((folder) => existsSync(`/usr/${folder}`))) {
      mkdirSync(this.#inside(`/usr/${name}`), { recursive: true });
      symlinkSync(`usr/${name}`, this.#inside(`/${name}`));
    }
    for (const path of ['/dev', '/proc', '/sys', '/run', '/etc', '/root', '/home', '/var/tmp', '/tmp']) {
      this.folder(path);
    }
    for (const path of ['/tmp', '/var/tmp']) chmodSync(this.#inside(path), 0o1777);
    const { stdout } = await execa('dpkg-query', ['--listfiles', ...wanted]);
    const files = stdout.split('\n').filter((path) => path.startsWith('/') && path !== '/.');
    await this.#copy(files.filter((path) => existsSync(path) && !NO_NEED.test(path)));
    this.#writeStatus(wanted);
    this.#writeAlternatives();
    for (const file of ['passwd', 'group', 'shadow', 'gshadow']) this.#writeAccounts(file);
    for (const path of ['/etc/nsswitch.conf', '/etc/debconf.conf', '/etc/profile', '/etc/shells']) {
      if (existsSync(path)) copyFileSync(path, this.#inside(path));
    }
    for (const path of ['/var/cache/apt/archives/partial', '/var/lib/apt/lists/partial', '/var/log/apt']) {
      this.folder(path);
    }
    for (const path of ['/var/cache/debconf', '/var/lib/dpkg/updates', '/var/lib/dpkg/parts'])
      this.folder(path);
    await execa('ldconfig', ['-r', this.folderPath]);
  }

  addUser(name: string, id: number): void {
    const add = (file: string, line: string) => {
      const path = this.#inside(`/etc/${file}`);
      writeFileSync(path, `${readFileSync(path, 'utf8')}${line}\n`);
    };
    add('passwd', `${name}:x:${id}:${id}::/home/${name}:/bin/sh`);
    add('group', `${name}:x:${id}:`);
    this.folder(`/home/${name}`, { owner: id });
  }

  /** The Node and npm that run this program. */
  async addNode(): Promise<void> {
    await this.addProgram(process.execPath, 'node');
    const npm = realpathSync((await execa('which', ['npm'])).stdout);
    const source = dirname(dirname(npm));
    must(existsSync(join(source, 'package.json')), `no npm is installed at ${source}`);
    cpSync(source, this.#inside('/usr/local/lib/node_modules/npm'), { recursive: true });
    for (const name of ['npm', 'npx']) {
      symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, this.#inside(`/usr/local/bin/${name}`));
    }
  }

  /** A program of this machine, and the libraries that it is linked with. */
  async addProgram(program: string, name = program): Promise<void> {
    const path = realpathSync((await execa('which', [program])).stdout);
    this.folder('/usr/local/bin');
    copyFileSync(path, this.#inside(`/usr/local/bin/${name}`));
    chmodSync(this.#inside(`/usr/local/bin/${name}`), 0o755);
    const { stdout } = await execa('ldd', [path], { reject: false });
    for (const [, library = ''] of stdout.matchAll(/(\/\S+) \(0x/g)) {
      const target = this.#inside(library);
      if (existsSync(target)) continue;
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(realpathSync(library), target);
    }
    await execa('ldconfig', ['-r', this.folderPath]);
  }

  /** Where apt and npm of this machine get packages from, and whom they trust. */
  addConfiguration(): void {
    for (const path of ['/etc/apt', '/etc/ssl', '/usr/local/share/ca-certificates']) {
      if (existsSync(path)) cpSync(path, this.#inside(path), { recursive: true, verbatimSymlinks: true });
    }
    const npmFile = (name: string) => execaSync('npm', ['config', 'get', name]).stdout.trim();
    const files = [
      [npmFile('userconfig'), '/root/.npmrc'],
      [npmFile('globalconfig'), '/usr/local/etc/npmrc'],
    ] as const;
    for (const [source, target] of files) {
      if (!existsSync(source)) continue;
      mkdirSync(dirname(this.#inside(target)), { recursive: true });
      copyFileSync(source, this.#inside(target));
    }
  }

  /** `NAME=value` of the variables by which programs of this machine reach a network. */
  environment(): string[] {
    const found = Object.entries(process.env).filter(([name]) => NETWORK_VARIABLE.test(name));
    return found.map(([name, value = '']) => `${name}=${JSON.stringify(value)}`);
  }

  folder(path: string, { owner = 0 }: { readonly owner?: number } = {}): void {
    mkdirSync(this.#inside(path), { recursive: true });
    chownSync(this.#inside(path), owner, owner);
  }

  writeProgram(path: string, text: string): void {
    mkdirSync(dirname(this.#inside(path)), { recursive: true });
    writeFileSync(this.#inside(path), text, { mode: 0o755 });
  }

  #inside(path: string): string {
    return join(this.folderPath, path);
  }

  /** With owners, modes and links. */
  async #copy(paths: readonly string[]): Promise<void> {
    const list = join(dirname(this.folderPath), 'files');
    writeFileSync(list, paths.join('\n'));
    const pack = ['tar', '--directory=/', '--no-recursion', '--create', `--files-from=${list}`];
    const unpack = ['tar', `--directory=${this.folderPath}`, '--extract', '--keep-directory-symlink'];
    await execa('sh', ['-c', `${pack.join(' ')} 2>/dev/null | ${unpack.join(' ')}`]);
  }

  /** What dpkg knows: these packages alone. */
  #writeStatus(packages: readonly string[]): void {
    const names = new Set(packages);
    const entries = readFileSync('/var/lib/dpkg/status', 'utf8').split('\n\n');
    const kept = entries.filter((entry) => names.has(/^Package: (.+)$/m.exec(entry)?.[1] ?? ''));
    this.folder('/var/lib/dpkg/info');
    writeFileSync(this.#inside('/var/lib/dpkg/status'), `${kept.join('\n\n')}\n`);
    writeFileSync(this.#inside('/var/lib/dpkg/available'), '');
    for (const file of readdirSync('/var/lib/dpkg/info')) {
      const name = /^([^:]+?)(?::\w+)?\.\w+$/.exec(file)?.[1] ?? '';
      if (names.has(name)) {
        copyFileSync(join('/var/lib/dpkg/info', file), this.#inside(`/var/lib/dpkg/info/${file}`));
        const isScript = /\.(?:(?:pre|post)(?:inst|rm)|config)$/.test(file);
        chmodSync(this.#inside(`/var/lib/dpkg/info/${file}`), isScript ? 0o755 : 0o644);
      }
    }
    copyFileSync('/var/lib/dpkg/info/format', this.#inside('/var/lib/dpkg/info/format'));
  }

  /** Links such as that of awk belong to no package. */
  #writeAlternatives(): void {
    for (const name of readdirSync('/etc/alternatives')) {
      const link = join('/etc/alternatives', name);
      if (name === 'README' || !existsSync(this.#inside(readlinkSync(link)))) continue;
      this.folder('/etc/alternatives');
      symlinkSync(readlinkSync(link), this.#inside(link));
      for (const folder of ['/usr/bin', '/usr/sbin']) {
        const user = join(folder, basename(name));
        if (existsSync(user) && !existsSync(this.#inside(user))) symlinkSync(link, this.#inside(user));
      }
    }
  }

  /** The accounts that every Debian has. */
  #writeAccounts(file: string): void {
    const lines = readFileSync(`/etc/${file}`, 'utf8').split('\n');
    const isSystem = (line: string) => {
      const [name = '', , id = ''] = line.split(':');
      if (file.endsWith('shadow')) return ['root', 'daemon', 'bin', 'sys', 'nobody', '_apt'].includes(name);
      return Number(id) < 100 || Number(id) === 65_534 || name === '_apt';
    };
    const kept = lines.filter((line) => line !== '' && isSystem(line));
    const withoutPasswords = file.endsWith('shadow')
      ? kept.map((line) => line.replace(/^([^:]+):[^:]*/, '$1:*'))
      : kept;
    writeFileSync(this.#inside(`/etc/${file}`), `${withoutPasswords.join('\n')}\n`, {
      mode: file.endsWith('shadow') ? 0o640 : 0o644,
    });
  }
}

interface Package {
  readonly name: string;
  readonly essential: boolean;
  /** For each dependency, the packages of which one is enough. */
  readonly needs: readonly (readonly string[])[];
  readonly provides: readonly string[];
}

async function installedPackages(): Promise<Map<string, Package>> {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own form
  const format = '${Package}\t${Essential}\t${Pre-Depends}, ${Depends}\t${Provides}\t${db:Status-Status}\n';
  const { stdout } = await execa('dpkg-query', ['--show', `--showformat=${format}`]);
  const bare = (text: string) => text.trim().replace(/[ :(].*$/, '');
  const names = (text: string) =>
    text
      .split(',')
      .map((entry) => entry.split('|').map(bare))
      .filter(([first = '']) => first !== '');
  const packages = stdout.split('\n').flatMap((line): Package[] => {
    const [name = '', essential, needs = '', provides = '', status] = line.split('\t');
    if (status !== 'installed') return [];
    return [{ name, essential: essential === 'yes', needs: names(needs), provides: names(provides).flat() }];
  });
  return new Map(packages.map((entry) => [entry.name, entry]));
}

/** Packages with all that they need. */
function closure(installed: ReadonlyMap<string, Package>, first: readonly string[]): string[] {
  const found = new Set<string>();
  const open = [...first];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const entry = installed.get(name);
    if (entry === undefined || found.has(name)) continue;
    found.add(name);
    for (const alternatives of entry.needs) {
      const direct = alternatives.find((candidate) => installed.has(candidate));
      const provider = [...installed.values()].find(({ provides }) =>
        alternatives.some((candidate) => provides.includes(candidate)),
      );
      const chosen = direct ?? provider?.name;
      if (chosen !== undefined) open.push(chosen);
    }
  }
  return [...found];
}
