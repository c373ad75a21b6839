import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTools } from '../../src/agents/read-tool.js';
import { JobFiles } from '../../src/agents/workspace/job-files.js';
import { MAX_READ_BYTES } from '../../src/agents/workspace/read-lines.js';
import { Workspace } from '../../src/agents/workspace/workspace.js';
import { ANY_WORKSPACE } from '../../src/agents/workspace/workspace-policy.js';

let outer: string;
let root: string;

beforeAll(() => {
  outer = realpathSync(mkdtempSync(join(tmpdir(), 'fleet-read-')));
  root = join(outer, 'workspace');
  mkdirSync(join(root, 'data'), { recursive: true });
  writeFileSync(join(outer, 'secret.txt'), 'SECRET');
  mkdirSync(join(outer, 'workspace-2'));
  writeFileSync(join(outer, 'workspace-2', 'secret.txt'), 'SECRET');
  writeFileSync(join(root, 'data', 'train.csv'), 'a,b\n1,2\n3,4\n');
  writeFileSync(join(root, '..notes'), 'a name that begins with two dots');
  writeFileSync(join(root, 'empty.txt'), '');
  writeFileSync(join(root, 'binary.bin'), Buffer.from([1, 0, 2]));
  writeFileSync(join(root, 'long.txt'), `${'😀'.repeat(40_000)}x\n`);
  writeFileSync(join(root, 'huge.csv'), 'row,of,a,table\n'.repeat(600_000));
  symlinkSync(join(outer, 'secret.txt'), join(root, 'link-out'));
  symlinkSync(outer, join(root, 'dir-out'));
  symlinkSync('data/train.csv', join(root, 'link-in'));
  symlinkSync('loop', join(root, 'loop'));
  symlinkSync('/dev/zero', join(root, 'zero'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
});

afterAll(() => rmSync(outer, { recursive: true }));

async function read(input: unknown, workspace: string | null = root, name = 'Read') {
  const lines: string[] = [];
  const log = {
    info: (line: string) => lines.push(`info ${line}`),
    warn: (line: string) => lines.push(`warn ${line}`),
  };
  const files = new JobFiles(ANY_WORKSPACE);
  const requestFiles = workspace === null ? null : await files.forRequest(workspace);
  const [result] = await runTools([{ id: 't1', name, input }], requestFiles, log);
  await files.close();
  return {
    text: String(result?.content).replace(/^<file-\w{16}>\n([\s\S]*)<\/file-\w{16}>$/, '$1'),
    isError: result?.is_error === true,
    lines,
    id: result?.tool_use_id,
  };
}

describe('hands out', () => {
  it('a file below the workspace, and logs it', async () => {
    const { text, isError, lines, id } = await read({ file_path: 'data/train.csv' });
    expect({ text, isError, id }).toEqual({ text: 'a,b\n1,2\n3,4\n', isError: false, id: 't1' });
    expect(lines).toEqual(['info tool Read: data/train.csv (12 characters)']);
  });

  it.each([
    ['an absolute path into the workspace', () => ({ file_path: join(root, 'data', 'train.csv') }), 'a,b'],
    ['a link that stays inside', () => ({ file_path: 'link-in' }), 'a,b'],
    ['a name that begins with two dots', () => ({ file_path: '..notes' }), 'two dots'],
    ['a path with a detour that stays inside', () => ({ file_path: 'data/../data/train.csv' }), 'a,b'],
    ['the lines asked for', () => ({ file_path: 'data/train.csv', offset: 2, limit: 1 }), '1,2\n(cut here'],
    ['an empty file', () => ({ file_path: 'empty.txt' }), '(the file is empty)'],
  ])('%s', async (_, input, expected) => {
    const { text, isError } = await read(input());
    expect(isError).toBe(false);
    expect(text).toContain(expected);
  });

  it('no more than a bounded part of a long file, cut between characters', async () => {
    for (const file_path of ['long.txt', 'huge.csv']) {
      const { text } = await read({ file_path });
      expect(text.length).toBeLessThan(MAX_READ_BYTES + 100);
      expect(text).toContain('(cut here; the file has');
      expect(text).not.toMatch(/\p{Surrogate}/u);
    }
  });
});

describe('refuses', () => {
  it.each([
    ['a path that climbs out', '../secret.txt'],
    ['a path that climbs out deep inside', 'data/../../secret.txt'],
    ['an absolute path', () => join(outer, 'secret.txt')],
    ["a sibling whose name begins with the workspace's", '../workspace-2/secret.txt'],
    ['a link that leads out', 'link-out'],
    ['a folder link that leads out', 'dir-out/secret.txt'],
    ['the workspace itself', '.'],
    ['a folder', 'data'],
    ['a pipe, without waiting for a writer', 'pipe'],
    ['a device', 'zero'],
    ['a device by its own path', '/dev/stdin'],
    ['a loop of links', 'loop'],
    ['what is not there', 'nothing.py'],
    ['a binary file', 'binary.bin'],
    ['an empty path', ''],
    ['a path with a zero byte', 'data\0/train.csv'],
    ['a name that is too long', 'x'.repeat(10_000)],
    ['process details', '/proc/self/environ'],
  ])('%s, says so, and logs it', async (_, path) => {
    const { text, isError, lines } = await read({ file_path: typeof path === 'function' ? path() : path });
    expect(isError).toBe(true);
    expect(text).not.toContain('SECRET');
    expect(text).toContain('cannot be read');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^warn tool Read rejected/);
  });

  it.each([
    ['no path', {}],
    ['a path that is no text', { file_path: 7 }],
    ['no object', 'data/train.csv'],
    ['a negative offset', { file_path: 'data/train.csv', offset: -1 }],
    ['lines after the end', { file_path: 'data/train.csv', offset: 100 }],
  ])('%s', async (_, input) => {
    expect((await read(input)).isError).toBe(true);
  });

  it('tools that do not exist, and every tool where there is no workspace', async () => {
    expect((await read({ command: 'ls' }, root, 'Bash')).text).toBe('There is no tool "Bash" here.');
    expect((await read({ file_path: 'data/train.csv' }, null)).isError).toBe(true);
  });

  it('a log line cannot be forged by a path', async () => {
    const { lines } = await read({ file_path: 'x\ninfo tool Read: fine\u001b[2K' });
    expect(lines[0]).not.toMatch(/\p{Cc}/u);
  });

  it('whatever the path, it reads nothing from outside', async () => {
    const piece = fc.constantFrom(
      '..',
      '.',
      'data',
      'dir-out',
      'link-out',
      'secret.txt',
      'workspace',
      'workspace-2',
      '',
      '/',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 8 }), async (pieces) => {
        expect((await read({ file_path: pieces.join('/') })).text).not.toContain('SECRET');
      }),
      { numRuns: 100 },
    );
  });
});

describe('races', () => {
  it('a file that becomes a link to the outside while it is read gives its own content or a refusal', async () => {
    const path = join(root, 'changing.txt');
    const link = join(root, 'changing.link');
    const file = join(root, 'changing.file');
    let leaks = 0;
    for (let round = 0; round < 200; round += 1) {
      writeFileSync(file, 'harmless');
      renameSync(file, path);
      symlinkSync(join(outer, 'secret.txt'), link);
      const reading = read({ file_path: 'changing.txt' });
      // The check of the path and the opening are several rounds of the event loop; the swap happens between them.
      for (let round = 0; round < round % 7; round += 1)
        await new Promise((resolve) => setImmediate(resolve));
      renameSync(link, path);
      if ((await reading).text.includes('SECRET')) leaks += 1;
      rmSync(path);
    }
    expect(leaks).toBe(0);
  });
});

it('a workspace that is missing or no directory is none', async () => {
  expect(await Workspace.open(join(outer, 'nowhere'), ANY_WORKSPACE)).toBeNull();
  expect(await Workspace.open(join(outer, 'secret.txt'), ANY_WORKSPACE)).toBeNull();
});
