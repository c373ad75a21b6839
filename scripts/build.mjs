#!/usr/bin/env node
// Compiles src/ into dist/, and does nothing where dist/ is what the present sources compile to. Refuses to build where a
// binary of others in assets/ is not the one whose checksum is recorded.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { changedAssets } from './setup/checksums.mjs';
import { withLock } from './setup/lock.mjs';
import { lockPath } from './setup/lock-path.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const compiler = join(root, 'node_modules', 'typescript');
const stampPath = join(root, 'node_modules', '.cache', 'solution-fleet-build.json');
const COMMAND_LINE = join('cli', 'main.js');

/** Relative paths of all files below a folder, sorted. */
function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    .sort();
}

function digest(folder, files) {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = readFileSync(join(folder, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function inputDigest() {
  const configuration = [
    'tsconfig.json',
    'tsconfig.build.json',
    'package.json',
    'package-lock.json',
    'scripts/build.mjs',
    'scripts/bundle.mjs',
  ];
  return digest(root, [...configuration, ...filesIn(join(root, 'src')).map((file) => join('src', file))]);
}

/** What the last build read and wrote; a file of dist/ that was changed or added by hand makes it differ. */
function readStamp() {
  return existsSync(stampPath) ? readFileSync(stampPath, 'utf8') : '';
}

function stampOf(input) {
  return JSON.stringify({
    input,
    output: digest(
      dist,
      filesIn(dist).filter((file) => !isCode(file)),
    ),
  });
}

/** Code that V8 compiled for a bundle, which programs that run from dist/ write: `src/code-cache`. */
const isCode = (file) => file.endsWith('.cache');

/** A leak that is corrected, so that both bundles of a check run nearly all that a check ever runs. */
const SAMPLE = `import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

X, y = np.load("X.npy"), np.load("y.npy")
scaler = StandardScaler()
X = scaler.fit_transform(X)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = LogisticRegression().fit(X_train, y_train)
print("Final Validation Performance:", accuracy_score(y_test, model.predict(X_test)))
`;

/** The first check of all leaves its code, as any does: in an image, or where others install it, that is the last chance. */
function keepCode() {
  spawnSync(process.execPath, [join(dist, COMMAND_LINE), 'check', '--offline', '-'], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH },
    input: SAMPLE,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
}

function compile(target) {
  // Each further checker checks the declarations of the libraries again: four take twice the processor time of one.
  const options = ['-p', 'tsconfig.build.json', '--outDir', target, '--checkers', '1'];
  const args = [join(compiler, 'bin', 'tsc'), ...options];
  // The compiler is a program in Go, which would collect garbage for a third of its time. It needs hardly more memory without.
  const env = { GOGC: '400', ...process.env };
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env });
  return status === 0;
}

/**
 * Brings dist/ to the content of `source` file by file, each appearing whole: a process that runs from dist/
 * meanwhile never finds a module missing or half written.
 */
function publish(source) {
  const files = filesIn(source);
  for (const file of files) {
    const target = join(dist, file);
    mkdirSync(dirname(target), { recursive: true });
    const fresh = `${target}.new`;
    copyFileSync(join(source, file), fresh);
    if (file === COMMAND_LINE) chmodSync(fresh, 0o755);
    renameSync(fresh, target);
  }
  const current = new Set(files);
  for (const stale of filesIn(dist).filter((file) => !current.has(file))) rmSync(join(dist, stale));
}

async function build() {
  const input = inputDigest();
  if (readStamp() === stampOf(input)) return true;
  const scratch = mkdtempSync(join(tmpdir(), 'solution-fleet-build-'));
  try {
    if (!compile(scratch)) return false;
    const { bundleCommandLine, bundleThreads } = await import('./bundle.mjs');
    const packages = join(root, 'node_modules');
    await bundleCommandLine(scratch, packages);
    await bundleThreads(scratch, packages);
    publish(scratch);
    keepCode();
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  mkdirSync(dirname(stampPath), { recursive: true });
  writeFileSync(stampPath, stampOf(input));
  return true;
}

const changed = changedAssets(join(root, 'assets'));
if (changed.length > 0) {
  for (const problem of changed) process.stderr.write(`${problem}\n`);
  process.stderr.write('Nothing was built. docs/dependencies.md says where these files come from.\n');
  process.exitCode = 1;
} else if (!existsSync(compiler)) {
  process.stderr.write('TypeScript is not installed; run "npm run setup" first.\n');
  process.exitCode = 2;
} else if (!(await withLock(lockPath('build', root), build))) {
  process.stderr.write('The build failed; dist/ is as it was.\n');
  process.exitCode = 1;
}
