import { messageOf, TrialError } from '../../errors.js';
import type { TrialSettings } from '../settings.js';
import { bubblewrapSandbox } from './bubblewrap.js';
import { commandSandbox } from './configured-command.js';
import { type HostPython, hostPython } from './host-python.js';
import { type Probed, probeSandbox } from './probe.js';
import type { Sandbox } from './sandbox.js';
import { unshareSandbox } from './unshare.js';

/** A sandbox that was seen to isolate, with its Python. */
export interface FoundSandbox extends Probed {
  readonly sandbox: Sandbox;
  /** Folders with libraries that Python does not find by itself. */
  readonly extraLibraries: readonly string[];
}

const BUILT_IN: Readonly<Record<string, (python: HostPython) => Sandbox>> = {
  bwrap: bubblewrapSandbox,
  unshare: unshareSandbox,
};

/** Without them no data are made up for a script. */
const NEEDED_LIBRARIES = ['numpy', 'pandas'];

/**
 * The sandbox in which this process can run scripts. Each candidate is tried, by a program that tries to get out of it.
 *
 * @throws TrialError `trial-unavailable` that says why there is none, and what to install.
 */
export async function findSandbox(settings: TrialSettings): Promise<FoundSandbox> {
  const { sandbox: configured } = settings;
  if (configured === 'off') throw unavailable('trials are switched off (FLEET_TRIAL_SANDBOX=off)');
  if (process.platform !== 'linux')
    throw unavailable(`no sandbox is known for ${process.platform}; trials need a worker on Linux`);
  if (configured !== 'auto' && !Object.hasOwn(BUILT_IN, configured)) {
    const sandbox = commandSandbox(configured, settings.python);
    const failure = await tried(sandbox, [], settings);
    if ('sandbox' in failure) return failure;
    throw unavailable(`the command of FLEET_TRIAL_SANDBOX cannot be used: ${failure.problem}`);
  }
  let python: HostPython;
  try {
    python = await hostPython(settings.python);
  } catch (thrown) {
    throw unavailable(messageOf(thrown), thrown);
  }
  const problems: string[] = [];
  for (const name of configured === 'auto' ? preferred() : [configured]) {
    const outcome = await tried((BUILT_IN[name] ?? unshareSandbox)(python), python.libraries, settings);
    if ('sandbox' in outcome) return outcome;
    problems.push(`${name}: ${outcome.problem}`);
  }
  throw unavailable(`no sandbox isolates on this machine (${problems.join('; ')})`);
}

/** As root, bubblewrap's programs would stay root's, for which the limit of processes does not hold. */
function preferred(): readonly string[] {
  return process.getuid?.() === 0 ? ['unshare'] : ['bwrap', 'unshare'];
}

async function tried(
  sandbox: Sandbox,
  extraLibraries: readonly string[],
  settings: TrialSettings,
): Promise<FoundSandbox | { readonly problem: string }> {
  try {
    const probed = await probeSandbox(sandbox, extraLibraries, settings);
    const missing = NEEDED_LIBRARIES.filter((name) => !probed.libraries.includes(name));
    if (missing.length > 0)
      return { problem: `its Python ${probed.python} lacks ${missing.join(' and ')} (FLEET_TRIAL_PYTHON)` };
    return { ...probed, sandbox, extraLibraries };
  } catch (thrown) {
    const isAbsent = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    return { problem: isAbsent ? 'it is not installed' : messageOf(thrown) };
  }
}

function unavailable(why: string, cause?: unknown): TrialError {
  return new TrialError(`the script cannot be tried out: ${why}`, cause === undefined ? {} : { cause });
}
