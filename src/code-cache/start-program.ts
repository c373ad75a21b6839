import { setFlagsFromString } from 'node:v8';
import { type BundleScope, loadBundle } from './load-bundle.js';
import { UNTIL_STOPPED } from './until-stopped.js';

/** What the module of a program exports. */
interface ProgramModule {
  /** Each calls functions of its own, so each has code of its own. */
  readonly commands: readonly string[];
}

/** Runs a program from its bundle, and keeps the code of its command when the process ends by itself. */
export function startProgram(bundle: URL, scope: Omit<BundleScope, 'name'>): void {
  const [, , command = ''] = process.argv;
  // It becomes a part of a path.
  const name = /^[a-z]+$/.test(command) ? command : 'none';
  // V8 would compile the parser of Python again, to run faster, and the process would not end before that is done: this takes longer
  // than to parse hundreds of files. Code that was compiled with other flags is not used, so they are set first.
  if (!UNTIL_STOPPED.includes(name)) setFlagsFromString('--liftoff-only');
  const { exports, keepCode } = loadBundle(bundle, { ...scope, name });
  const { commands } = exports as unknown as ProgramModule;
  if (keepCode !== undefined && commands.includes(name)) process.once('exit', keepCode);
}
