import { readFileSync, statSync } from 'node:fs';
import { findProgram } from '../../config/find-program.js';
import { isWithin } from '../../config/paths.js';
import { packagePath } from '../../package-root.js';
import type { HostPython } from './host-python.js';
import { DISK_MB, SANDBOX_ENVIRONMENT, type Sandbox } from './sandbox.js';

/** Folders of every Linux system; one of them becomes the root of the sandbox, in its own view of the file system. */
const POSSIBLE_ROOTS = ['/mnt', '/media', '/srv', '/opt', '/tmp', '/var'];

/** Ids of users that no system gives to anybody; with fewer ids, as in a container, below 65,534 ("nobody"). */
const FIRST_USER = 1_900_000_000;
const FIRST_SMALL_USER = 61_000;
const USERS = 1_000_000;
const SMALL_USERS = 3_000;

const NAMESPACES = ['--mount', '--net', '--pid', '--ipc', '--uts', '--fork', '--kill-child'];
const NO_PRIVILEGES = [
  ...['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--no-new-privs'],
  // A change of the user clears what `unshare` has set for its child.
  ...['--pdeathsig', 'KILL'],
];

/**
 * A sandbox of the programs of util-linux: new namespaces, a file system of its own in memory, and no privileges. Root's
 * programs become those of a user that nobody is; those of other users get a user namespace.
 */
export function unshareSandbox({ executable, readable }: HostPython): Sandbox {
  const isRoot = process.getuid?.() === 0;
  const root = POSSIBLE_ROOTS.find(
    (folder) =>
      statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true &&
      !readable.some((path) => isWithin(path, folder)),
  );
  return {
    name: 'unshare',
    command(pythonArguments) {
      const user = isRoot ? String(unusedUser()) : '0';
      const identity = isRoot
        ? ['--reuid', user, '--regid', user, '--clear-groups']
        : ['--securebits=+noroot,+noroot_locked'];
      return {
        file: findProgram('unshare') ?? 'unshare',
        args: [
          ...(isRoot ? [] : ['--user', '--map-root-user']),
          ...NAMESPACES,
          ...['/bin/sh', packagePath('assets', 'fleet_trial', 'enter-sandbox.sh')],
          ...[root ?? '/mnt', user, String(DISK_MB), ...readable, '--'],
          ...['setpriv', ...identity, ...NO_PRIVILEGES, '--'],
          ...[executable, ...pythonArguments],
        ],
        env: SANDBOX_ENVIRONMENT,
      };
    },
  };
}

/** Another user for each sandbox: the limit of processes is one of a user. */
function unusedUser(): number {
  const last = readFileSync('/proc/self/uid_map', 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .reduce((most, [first = 0, , count = 0]) => Math.max(most, first + count), 0);
  return last > FIRST_USER + USERS
    ? FIRST_USER + Math.floor(Math.random() * USERS)
    : FIRST_SMALL_USER + Math.floor(Math.random() * SMALL_USERS);
}
