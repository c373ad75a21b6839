import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';

const PAGE = readFileSync(packagePath('docs', 'redis-data-model.md'), 'utf8');

/** All of the source, without comments that are on lines of their own. */
const SOURCE = readdirSync(packagePath('src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(packagePath('src', file), 'utf8').replaceAll(/^\s*(\/?\*|\/\/).*$/gm, ''))
  .join('\n');

function found(pattern: RegExp): string[] {
  return [...new Set([...SOURCE.matchAll(pattern)].map(([, name]) => name ?? ''))].sort();
}

describe('docs/redis-data-model.md', () => {
  it('names every key that the fleet has below its prefix', () => {
    const keys = found(/[pP]refix\}::([a-z-]+)/g);
    expect(keys).toEqual(expect.arrayContaining(['calls', 'fair', 'limit', 'payload', 'spend', 'tokens']));
    expect(keys.filter((key) => !PAGE.includes(`\`PREFIX::${key}`))).toEqual([]);
  });

  it('names every field that the fleet adds to a job, and no other', () => {
    const fields = found(/['"`](fleet:[a-zA-Z]+)\b/g);
    expect(fields).toEqual(expect.arrayContaining(['fleet:cancelled', 'fleet:ledger', 'fleet:attempt']));
    const documented = [...PAGE.matchAll(/\| `(fleet:[a-zA-Z]+)[:`]/g)].map(([, field]) => field ?? '');
    expect([...new Set([...documented, 'fleet:text'])].sort()).toEqual(fields);
  });
});
