import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { packagePath } from '../../src/package-root.js';

/** The files of Swagger UI that the gateway serves, and its licenses, as npm has them. */
const SERVED = ['swagger-ui-bundle.js', 'swagger-ui.css'];
const LICENSES = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'];
const FOLDER = 'gateway/swagger-ui';

interface ViewerFile {
  /** Path below `assets/`. */
  readonly asset: string;
  /** What the asset has to hold, once it is unpacked. */
  readonly original: Buffer;
}

/** The files of the viewer in `assets/`, and the files of the package that they are copies of. */
export function viewerFiles(): ViewerFile[] {
  return [...SERVED, ...LICENSES].map((name) => ({
    asset: `${FOLDER}/${name}${SERVED.includes(name) ? '.gz' : ''}`,
    original: readFileSync(packagePath('node_modules', 'swagger-ui-dist', name)),
  }));
}

/** The content of such a file, unpacked. */
export function unpacked(asset: string): Buffer {
  const content = readFileSync(packagePath('assets', asset));
  return asset.endsWith('.gz') ? gunzipSync(content) : content;
}

/** Copies the files of the package into `assets/`, packed, and records their checksums. Files that are current stay as they are. */
export function copyViewer(): void {
  const sums = packagePath('assets', 'SHA256SUMS');
  mkdirSync(packagePath('assets', FOLDER), { recursive: true });
  const lines = readFileSync(sums, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.includes(FOLDER));
  for (const { asset, original } of viewerFiles()) {
    const path = packagePath('assets', asset);
    if (!isCurrent(asset, original)) {
      writeFileSync(path, asset.endsWith('.gz') ? gzipSync(original, { level: 9 }) : original);
    }
    const checksum = createHash('sha256').update(readFileSync(path)).digest('hex');
    lines.push(`${checksum}  ${asset}`);
  }
  writeFileSync(sums, `${lines.join('\n')}\n`);
}

function isCurrent(asset: string, original: Buffer): boolean {
  try {
    return unpacked(asset).equals(original);
  } catch {
    // Not there, or not readable: it is written again.
    return false;
  }
}
