#!/usr/bin/env node
// Makes a fresh clone ready: npm dependencies by the lock file, a Redis server, and with --build the compiled
// code. Plain JavaScript without dependencies, since it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SetupError, say } from './setup/failure.mjs';
import { withLock } from './setup/lock.mjs';
import { lockPath } from './setup/lock-path.mjs';
import { dependencyProblem, installDependencies } from './setup/npm-dependencies.mjs';
import { installSystemPart, SYSTEM_PARTS } from './setup/system-packages.mjs';

const MIN_NODE = 20;
const root = fileURLToPath(new URL('..', import.meta.url));
const OPTIONAL_PARTS = ['sklearn', 'chromium'];
const USAGE = `Usage: node scripts/setup.mjs [--build] [--with ${OPTIONAL_PARTS.join('|')}]…

Installs what is missing: the npm dependencies (by package-lock.json) and a Redis server (through apt-get, dnf,
apk or brew). A second run finds everything there and changes nothing.

  --build       also compile src/ into dist/
  --with PART   also install PART, which some examples and pictures can use; skipped aloud where it cannot be had
`;

function readArguments(args) {
  const wanted = { build: false, parts: [] };
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index];
    if (argument === '--build') wanted.build = true;
    else if (argument === '--with' && OPTIONAL_PARTS.includes(args[index + 1]))
      wanted.parts.push(args[++index]);
    else throw new SetupError(`Unknown argument "${argument}".\n${USAGE}`);
  }
  return wanted;
}

function checkNode() {
  const version = process.versions.node;
  if (Number(version.split('.')[0]) < MIN_NODE) {
    throw new SetupError(
      `Node ${MIN_NODE} or newer is needed; this is Node ${version}. Install it from nodejs.org.`,
    );
  }
}

async function setUpDependencies() {
  if (dependencyProblem(root) === undefined) return;
  await withLock(lockPath('setup', root), () => {
    // Another run may have done it while this one waited.
    const problem = dependencyProblem(root);
    if (problem !== undefined) installDependencies(root, problem);
  });
}

/** @returns why the part could not be installed, or undefined. */
async function setUpSystemPart(name) {
  if (SYSTEM_PARTS[name].isThere()) return undefined;
  return withLock(lockPath('system'), () =>
    SYSTEM_PARTS[name].isThere() ? undefined : installSystemPart(name),
  );
}

function build() {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], {
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new SetupError('The build failed, see above.');
}

async function main(args) {
  if (args.includes('--help')) {
    process.stdout.write(USAGE);
    return;
  }
  checkNode();
  const wanted = readArguments(args);
  await setUpDependencies();
  const missing = await setUpSystemPart('redis');
  if (missing !== undefined) throw new SetupError(missing);
  for (const part of wanted.parts) {
    const reason = await setUpSystemPart(part);
    if (reason !== undefined) say(`SKIPPED: ${reason}`);
  }
  if (wanted.build) build();
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = 2;
}
