import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SetupError } from './failure.mjs';

/**
 * Path of the lock for something in a checkout, or on the whole machine. It is in a folder of this user alone, not in
 * the checkout: a link of that name would lead anywhere.
 *
 * @param {string} name
 * @param {string} [root]
 */
export function lockPath(name, root) {
  const user = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `solution-fleet-setup-${user}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== user || (found.mode & 0o022) !== 0) {
    throw new SetupError(`${folder} is not a folder of this user alone; remove it, or set TMPDIR.`);
  }
  const suffix = root === undefined ? '' : `-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
  return join(folder, `${name}${suffix}.lock`);
}
