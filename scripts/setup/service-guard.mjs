import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';

const POLICY = '/usr/sbin/policy-rc.d';
const HEADER = '# Written by the set-up of solution-fleet for the time of one apt-get install.';

/**
 * Runs an apt installation without letting it start a system service: Debian asks `policy-rc.d` first, and
 * exit status 101 forbids. A policy that is there already is the administrator's and stays as it is.
 * Needs root; as a normal user with sudo the file is written and removed through sudo.
 *
 * @template T
 * @param {string[]} asRoot Words before a command that needs root (`[]` or `['sudo', '-n']`).
 * @param {() => T} install
 * @returns {T}
 */
export function withoutServiceStart(asRoot, install) {
  // One that an earlier run left behind when it was killed counts as ours.
  if (existsSync(POLICY) && !readFileSync(POLICY, 'utf8').includes(HEADER)) return install();
  writePolicy(asRoot);
  const remove = () => removePolicy(asRoot);
  process.once('exit', remove);
  try {
    return install();
  } finally {
    process.off('exit', remove);
    remove();
  }
}

function writePolicy(asRoot) {
  const text = `#!/bin/sh\n${HEADER}\nexit 101\n`;
  if (asRoot.length === 0) {
    writeFileSync(POLICY, text, { mode: 0o755 });
    return;
  }
  runAsRoot(asRoot, 'tee', [POLICY], text);
  runAsRoot(asRoot, 'chmod', ['755', POLICY]);
}

function removePolicy(asRoot) {
  if (asRoot.length > 0) runAsRoot(asRoot, 'rm', ['-f', POLICY]);
  else if (existsSync(POLICY)) unlinkSync(POLICY);
}

function runAsRoot(asRoot, program, args, input = '') {
  const [first, ...rest] = [...asRoot, program, ...args];
  spawnSync(first, rest, { input, stdio: ['pipe', 'ignore', 'inherit'] });
}
