import { lstatSync, readlinkSync } from 'node:fs';
import { findProgram } from '../../config/find-program.js';
import type { HostPython } from './host-python.js';
import { DISK_MB, SANDBOX_ENVIRONMENT, type Sandbox } from './sandbox.js';

const MEBIBYTE = 2 ** 20;
/** Size of the folders for temporary files, in MiB. */
const TEMPORARY_MB = 64;

/** A sandbox of bubblewrap, which needs no privileges where users may create namespaces. */
export function bubblewrapSandbox({ executable, readable }: HostPython): Sandbox {
  const folder = (path: string, megabytes: number) => [
    '--size',
    String(megabytes * MEBIBYTE),
    '--tmpfs',
    path,
  ];
  return {
    name: 'bubblewrap',
    command: (pythonArguments) => ({
      file: findProgram('bwrap') ?? 'bwrap',
      args: [
        ...['--unshare-all', '--unshare-user', '--die-with-parent', '--as-pid-1', '--new-session'],
        ...['--cap-drop', 'ALL', '--clearenv'],
        ...Object.entries(SANDBOX_ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]),
        ...readable.flatMap((path) =>
          lstatSync(path).isSymbolicLink()
            ? ['--symlink', readlinkSync(path), path]
            : ['--ro-bind', path, path],
        ),
        ...['--proc', '/proc', '--dev', '/dev', ...folder('/dev/shm', TEMPORARY_MB), '--remount-ro', '/dev'],
        ...[...folder('/tmp', TEMPORARY_MB), ...folder('/work', DISK_MB), '--remount-ro', '/'],
        ...['--chdir', '/work', '--', executable, ...pythonArguments],
      ],
      env: SANDBOX_ENVIRONMENT,
    }),
  };
}
