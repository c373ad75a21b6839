import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, resolve } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { isWithin, programFolders } from '../../config/paths.js';
import { messageOf } from '../../errors.js';

/** The Python of this machine, and the folders without which it does not run. */
export interface HostPython {
  readonly executable: string;
  /** Folders and files of the machine that a program may read. */
  readonly readable: readonly string[];
  /** Folders with libraries that this Python does not find by itself in a sandbox. */
  readonly libraries: readonly string[];
}

/** Programs and libraries of the system. Nothing in it belongs to a user. */
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'],
  ...['/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d', '/etc/alternatives', '/etc/localtime'],
];

const LOCATIONS = `
import json, os, site, sys
user = site.getusersitepackages() if site.ENABLE_USER_SITE else None
print(json.dumps({
    "executable": sys.executable,
    "prefixes": [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix],
    "libraries": [user] if user and os.path.isdir(user) else [],
}))`;
const AnswerSchema = z.object({
  executable: z.string().min(1),
  prefixes: z.array(z.string().min(1)),
  libraries: z.array(z.string()),
});

/** How long Python may take to say where it is, in milliseconds. */
const START_MS = 120_000;

/**
 * Locates an interpreter and its libraries, by running it.
 * @param python a name that is looked up on the PATH, or a path.
 * @throws Error that says why it cannot be used.
 */
export async function hostPython(python: string): Promise<HostPython> {
  const { executable, prefixes, libraries } = await locate(python);
  const readable = [...new Set([...SYSTEM, ...prefixes, ...libraries])].filter((path) => existsSync(path));
  const home = homedir();
  const tooMuch = readable.find((path) => isWithin(home, path));
  if (tooMuch !== undefined) {
    throw new Error(
      `${executable} is installed in ${tooMuch}, which holds the home folder too; name a Python with a folder of its own, such as a virtual environment`,
    );
  }
  const isNeeded = (path: string) =>
    !readable.some((other) => other !== path && isWithin(path, other) && !path.startsWith('/lib'));
  return { executable, readable: readable.filter(isNeeded), libraries };
}

async function locate(python: string): Promise<z.infer<typeof AnswerSchema>> {
  if (python === '') throw new Error('FLEET_PYTHON is empty, so there is no Python');
  const program = python.includes('/') ? resolve(python) : python;
  const passedOn = Object.entries(process.env).filter(([name]) => /^(?:HOME|PYENV_\w+|LANG)$/.test(name));
  try {
    const { stdout } = await promisify(execFile)(program, ['-c', LOCATIONS], {
      cwd: '/',
      env: { ...Object.fromEntries(passedOn), PATH: programFolders().join(delimiter) },
      timeout: START_MS,
    });
    return AnswerSchema.parse(JSON.parse(stdout));
  } catch (thrown) {
    throw new Error(`${python} cannot be started: ${messageOf(thrown).split('\n')[0]}`, { cause: thrown });
  }
}
