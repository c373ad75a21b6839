import { type BundleScope, loadBundle } from './load-bundle.js';

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
  const { exports, keepCode } = loadBundle(bundle, { ...scope, name });
  const { commands } = exports as unknown as ProgramModule;
  if (keepCode !== undefined && commands.includes(name)) process.once('exit', keepCode);
}
