import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file that records the checksums, in the form that `sha256sum --check` reads. */
const CHECKSUMS = 'SHA256SUMS';

/**
 * Files of a folder that are not what its `SHA256SUMS` records, one sentence each.
 *
 * @param {string} folder
 * @returns {string[]}
 */
export function changedAssets(folder) {
  const lines = readFileSync(join(folder, CHECKSUMS), 'utf8').trim().split('\n');
  return lines.flatMap((line) => {
    const [, expected, name] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? [];
    if (expected === undefined || name === undefined)
      return [`${CHECKSUMS} has a line that is no checksum: ${line}`];
    const path = join(folder, name);
    if (!existsSync(path)) return [`assets/${name} is missing.`];
    const found = createHash('sha256').update(readFileSync(path)).digest('hex');
    return found === expected
      ? []
      : [`assets/${name} has the SHA-256 ${found}, but ${CHECKSUMS} records ${expected}.`];
  });
}
