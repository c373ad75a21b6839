import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { say } from './failure.mjs';
import { withoutServiceStart } from './service-guard.mjs';

/**
 * What may be missing on a machine: how to tell that it is there, and its package by package manager
 * (several: the first that the manager has).
 */
export const SYSTEM_PARTS = {
  redis: {
    title: 'a Redis server',
    isThere: () => hasProgram('redis-server') || hasProgram('valkey-server'),
    packages: {
      'apt-get': ['redis-server'],
      dnf: ['valkey', 'redis'],
      apk: ['redis', 'valkey'],
      brew: ['redis'],
    },
    service: 'redis-server',
  },
  sklearn: {
    title: 'scikit-learn for python3',
    isThere: () => pythons().some(hasSklearn),
    packages: {
      'apt-get': ['python3-sklearn python3-pandas'],
      dnf: ['python3-scikit-learn python3-pandas'],
      apk: ['py3-scikit-learn py3-pandas'],
    },
  },
  chromium: {
    title: 'Chromium',
    isThere: () => ['chromium', 'chromium-browser', 'google-chrome'].some(hasProgram),
    packages: { 'apt-get': ['chromium'], dnf: ['chromium'], apk: ['chromium'] },
  },
};

/** How each package manager installs without asking; `refresh` gets newer package lists. */
const MANAGERS = {
  'apt-get': {
    install: ['apt-get', 'install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'],
    refresh: ['apt-get', 'update', '-o', 'DPkg::Lock::Timeout=300'],
    needsRoot: true,
  },
  dnf: { install: ['dnf', 'install', '-y'], needsRoot: true },
  apk: { install: ['apk', 'add', '--no-cache'], needsRoot: true },
  brew: { install: ['brew', 'install'], needsRoot: false },
};

/**
 * Installs a part through the machine's own package manager.
 *
 * @param {keyof typeof SYSTEM_PARTS} name
 * @returns {string | undefined} Why it could not be installed and what to do by hand; undefined: it is there.
 */
export function installSystemPart(name) {
  const part = SYSTEM_PARTS[name];
  const manager = Object.keys(MANAGERS).find((candidate) => hasProgram(candidate));
  const packages = manager === undefined ? undefined : part.packages[manager];
  if (manager === undefined || packages === undefined) {
    const known = Object.keys(part.packages).join(', ');
    return `Missing: ${part.title}. No package manager that has it was found (${known}); install it by hand.`;
  }
  const { install, refresh, needsRoot } = MANAGERS[manager];
  const byHand = `${needsRoot ? 'sudo ' : ''}${manager} ${install[1]} ${packages[0]}`;
  const asRoot = needsRoot ? rootWords() : [];
  if (asRoot === undefined) {
    return `Missing: ${part.title}. This user may not install it; by hand: ${byHand}`;
  }
  for (const candidate of packages) {
    say(`Installing ${part.title}: ${[...asRoot, manager, install[1], candidate].join(' ')} …`);
    const attempt = () => run([...asRoot, ...install, ...candidate.split(' ')]);
    const guarded = manager === 'apt-get' ? () => withoutServiceStart(asRoot, attempt) : attempt;
    // Package lists are often missing in a fresh image or out of date; only then are they fetched.
    const done = guarded() || (refresh !== undefined && run([...asRoot, ...refresh]) && guarded());
    if (done && part.isThere()) {
      if (part.service !== undefined) leaveServiceOff(part.service, asRoot);
      return undefined;
    }
  }
  return `Missing: ${part.title}. It could not be installed, see above; by hand: ${byHand}`;
}

/** Debian enables a new service for the next boot; the fleet starts a server of its own and needs no other. */
function leaveServiceOff(service, asRoot) {
  if (hasProgram('systemctl')) run([...asRoot, 'systemctl', '--quiet', 'disable', service]);
}

/** Words before a command that needs root; undefined where this user may not become root without a password. */
function rootWords() {
  if (process.getuid?.() === 0) return [];
  const mayWithoutPassword =
    hasProgram('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
  return mayWithoutPassword ? ['sudo', '-n'] : undefined;
}

function run([program, ...args]) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', HOMEBREW_NO_AUTO_UPDATE: '1' };
  return spawnSync(program, args, { stdio: ['ignore', 2, 2], env }).status === 0;
}

const FURTHER_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

function searchFolders() {
  return [...(process.env.PATH ?? '').split(delimiter), ...FURTHER_FOLDERS].filter((folder) =>
    folder.startsWith('/'),
  );
}

function programsNamed(name) {
  return searchFolders()
    .map((folder) => join(folder, name))
    .filter(isExecutable);
}

function hasProgram(name) {
  return programsNamed(name).length > 0;
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Every python3: the first on the PATH may lack what the system's own has. */
function pythons() {
  return [...new Set([...programsNamed('python3'), '/usr/bin/python3'])].filter(isExecutable);
}

function hasSklearn(python) {
  const code =
    "import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in ('sklearn', 'pandas')))";
  return spawnSync(python, ['-c', code], { stdio: 'ignore' }).status === 0;
}
