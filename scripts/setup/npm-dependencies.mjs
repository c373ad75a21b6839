import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError, say } from './failure.mjs';

/**
 * Why `node_modules` is not what `package-lock.json` asks for, or undefined where it is.
 * npm writes its own record of what it installed as its last step, so a broken-off install has none.
 *
 * @param {string} root
 */
export function dependencyProblem(root) {
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = readInstalled(root);
  if (installed === undefined) return 'they are not installed yet';
  for (const [path, { version, optional, os, cpu }] of Object.entries(wanted)) {
    if (path === '') continue;
    const found = installed[path]?.version;
    if (found === version || (found === undefined && optional)) {
      if (found !== undefined && !(fits(os, process.platform) && fits(cpu, process.arch))) {
        return 'they were installed on another kind of machine';
      }
      continue;
    }
    return `${path} is ${found ?? 'missing'}, and package-lock.json has ${version}`;
  }
  return undefined;
}

function readInstalled(root) {
  try {
    return JSON.parse(readFileSync(join(root, 'node_modules', '.package-lock.json'), 'utf8')).packages;
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** npm's `os` and `cpu` fields: a list of names, or of excluded names with a `!` before them. */
function fits(names, own) {
  if (names === undefined) return true;
  if (names.includes(`!${own}`)) return false;
  const included = names.filter((name) => !name.startsWith('!'));
  return included.length === 0 || included.includes(own);
}

/** @param {string} root @param {string} problem */
export function installDependencies(root, problem) {
  const command = 'npm ci --ignore-scripts --include=dev';
  say(`Installing the npm dependencies with "${command}" (${problem}) …`);
  const [program, ...args] = command.split(' ');
  // Standard output goes to standard error: it is progress.
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (error !== undefined)
    throw new SetupError(`npm cannot be run (${error.message}); install npm 10 or newer.`);
  if (status !== 0)
    throw new SetupError(`"${command}" failed, see above; correct the cause and run it by hand.`);
}
