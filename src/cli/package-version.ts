import { readFileSync } from 'node:fs';
import { packagePath } from '../package-root.js';

/** Version of this package. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string };
  return version;
}
