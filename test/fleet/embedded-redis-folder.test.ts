import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/errors.js';
import { openEmbeddedRedisFolder } from '../../src/fleet/embedded-redis-folder.js';

describe('the folder of an embedded Redis', () => {
  it('is ignored by git, whatever the project says; a file of the user stays', () => {
    const project = mkdtempSync(join(tmpdir(), 'folder-'));
    const ignore = join(project, '.fleet', '.gitignore');
    openEmbeddedRedisFolder(project);
    expect(readFileSync(ignore, 'utf8')).toBe('*\n');
    writeFileSync(ignore, 'redis\n');
    openEmbeddedRedisFolder(project);
    expect(readFileSync(ignore, 'utf8')).toBe('redis\n');
  });

  it('is not made in a project folder that does not exist', () => {
    const project = join(mkdtempSync(join(tmpdir(), 'folder-')), 'typo', 'below');
    expect(() => openEmbeddedRedisFolder(project)).toThrow(ConfigurationError);
    expect(() => openEmbeddedRedisFolder(project)).toThrow(`${project} does not exist`);
    expect(existsSync(join(project, '..'))).toBe(false);
  });
});
