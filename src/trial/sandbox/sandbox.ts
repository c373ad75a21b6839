/** A program with its arguments, and all of its environment. */
interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A way to run Python isolated from everything else on this machine. */
export interface Sandbox {
  readonly name: 'bubblewrap' | 'unshare' | 'command';
  /** The command that runs Python with some arguments in it. */
  command(pythonArguments: readonly string[]): Command;
}

/** Limits of one run, whatever the sandbox is. */
export interface RunLimits {
  /** Memory of one process, and of all together, in MiB. */
  readonly memoryMb: number;
  /** Duration, in seconds. */
  readonly seconds: number;
}

/** Most processes and threads of a script at the same time. */
export const MAX_PROCESSES = 64;
/** Most that a script may write, in MiB. It is lost with the sandbox. */
export const DISK_MB = 256;

/** What a program in a sandbox finds in its environment: nothing of the process that starts it. */
export const SANDBOX_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/work',
  TMPDIR: '/work',
  LANG: 'C.UTF-8',
  MPLBACKEND: 'Agg',
  // Several threads of one short run only wait for each other.
  OMP_NUM_THREADS: '1',
  OPENBLAS_NUM_THREADS: '1',
  MKL_NUM_THREADS: '1',
  LOKY_MAX_CPU_COUNT: '2',
};
