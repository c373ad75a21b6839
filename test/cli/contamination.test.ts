import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { emptyFolder, fleetCommand } from '../support/fleet-command.js';

const KNOWN = [
  'def moving_average(values, width):',
  '    if width <= 0:',
  '        raise ValueError("width must be positive")',
  '    window = []',
  '    total = 0.0',
  '    result = []',
  '    for value in values:',
  '        window.append(value)',
  '        total += value',
  '        if len(window) > width:',
  '            total -= window.pop(0)',
  '        result.append(total / len(window))',
  '    return result',
  '',
].join('\n');
const RENAMED = KNOWN.replaceAll('moving_average', 'smooth')
  .replaceAll('window', 'recent')
  .replaceAll('total', 'acc');

function project(): string {
  const folder = emptyFolder();
  writeFileSync(
    join(folder, 'known.jsonl'),
    `${JSON.stringify({ testCaseId: 'average', solution: KNOWN })}\n`,
  );
  writeFileSync(join(folder, 'average.py'), RENAMED);
  writeFileSync(join(folder, 'own.py'), 'import sys\nprint(sum(map(int, sys.stdin)))\n');
  return folder;
}

describe('fleet contamination', () => {
  it('finds a renamed copy without a Redis, and says which check found it', async () => {
    const args = ['contamination', '--known', 'known.jsonl', '--output', 'average.py', 'own.py', '--json'];
    const { stdout, exitCode } = await fleetCommand(args, { cwd: project() });
    const [copy, own] = JSON.parse(stdout);
    expect(exitCode).toBe(1);
    expect(copy).toMatchObject({ file: 'average.py', contaminated: true });
    expect(copy.reason).toBeTypeOf('string');
    expect(own).toMatchObject({ file: 'own.py', contaminated: false });
  });

  it('--html writes one page that shows both texts and loads nothing', async () => {
    const cwd = project();
    const args = [
      'contamination',
      '--known',
      'known.jsonl',
      '--output',
      'average.py',
      '--html',
      'report.html',
    ];
    await fleetCommand(args, { cwd });
    const page = readFileSync(join(cwd, 'report.html'), 'utf8');
    expect(page).toContain('<mark');
    expect(page).toContain('average.py');
    expect(page).not.toMatch(/<script|https?:\/\/|src=/);
  });

  it('prints a table for people', async () => {
    const args = ['contamination', '--known', 'known.jsonl', '--output', 'average.py'];
    const { stdout } = await fleetCommand(args, { cwd: project() });
    expect(stdout).toContain('contaminated');
    expect(stdout).toContain('fingerprint');
    expect(stdout).not.toContain('\u001b');
  });

  it('a clean output alone exits with 0', async () => {
    const args = ['contamination', '--known', 'known.jsonl', '--output', 'own.py'];
    expect((await fleetCommand(args, { cwd: project() })).exitCode).toBe(0);
  });

  it('names a broken line of the known set and checks with the rest', async () => {
    const cwd = project();
    writeFileSync(
      join(cwd, 'known.jsonl'),
      `{"testCaseId":"x"}\n${JSON.stringify({ testCaseId: 'average', solution: KNOWN })}\n`,
    );
    const { stderr, exitCode } = await fleetCommand(
      ['contamination', '--known', 'known.jsonl', '--output', 'average.py'],
      { cwd },
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain('known.jsonl:1: known solution: solution:');
  });

  it('ends the comparison of one that takes longer than a worker would give it, and checks the others', async () => {
    const cwd = project();
    writeFileSync(join(cwd, 'faces.txt'), '\u{1F600}'.repeat(2 ** 20));
    const args = ['contamination', '--known', 'known.jsonl', '--output', 'faces.txt', 'own.py', '--json'];
    const options = ['--test-case', 'average'];
    const { stdout, exitCode } = await fleetCommand([...args, ...options], {
      cwd,
      env: { FLEET_ANALYSIS_TIMEOUT_MS: '400' },
    });
    const [slow, own] = JSON.parse(stdout);
    expect(exitCode).toBe(2);
    expect(slow).toMatchObject({ file: 'faces.txt', error: { code: 'analysis-limit' } });
    expect(own).toMatchObject({ file: 'own.py', contaminated: false });
  });

  it('says that nothing could be compared where only other tasks are known', async () => {
    const args = ['contamination', '--known', 'known.jsonl', '--output', 'own.py', '--json'];
    const { stdout } = await fleetCommand(args, { cwd: project() });
    expect(JSON.parse(stdout)[0]).toMatchObject({
      confidence: 0.5,
      note: expect.stringContaining('no known solution of own'),
    });
  });

  it.each([
    [
      'a known set without a readable line',
      ['--known', 'own.py', '--output', 'own.py'],
      'none of its 2 lines can be read',
    ],
    ['a missing known set', ['--known', 'no.jsonl', '--output', 'own.py'], 'no.jsonl cannot be read'],
    ['a missing output', ['--known', 'known.jsonl', '--output', 'no.py'], 'no.py does not exist'],
    ['a solve time of 0', ['--known', 'known.jsonl', '--output', 'own.py', '--solve-time', '0'], 'above 0'],
    [
      'an unknown difficulty',
      ['--known', 'known.jsonl', '--output', 'own.py', '--difficulty', 'brutal'],
      'easy, medium, hard',
    ],
  ])('%s is refused with exit 2', async (_what, args, sentence) => {
    const { stderr, exitCode } = await fleetCommand(['contamination', ...args], { cwd: project() });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(sentence);
  });
});

describe('fleet known', () => {
  it('imports, lists, exports and removes; a second import adds nothing', async () => {
    const cwd = project();
    const run = (...args: string[]) => fleetCommand(['known', ...args], { cwd });
    expect((await run('import', 'known.jsonl')).stdout).toBe('1 lines, 1 new\n');
    expect((await run('import', 'known.jsonl')).stdout).toBe('1 lines, 0 new\n');
    expect((await run('list')).stdout).toMatch(/^average [0-9a-f]{64} \d+\n$/);
    const exported = JSON.parse((await run('export')).stdout);
    expect(exported).toMatchObject({ testCaseId: 'average', solution: KNOWN });
    expect((await run('add', 'other', 'own.py')).stdout).toBe('added\n');
    expect((await run('remove', 'average')).stdout).toBe('removed 1\n');
    expect((await run('list')).stdout).toMatch(/^other /);
    expect((await run('remove', 'average')).exitCode).toBe(1);
  });

  it('--strict: a broken line is named, the rest is imported, and the exit code is 2', async () => {
    const cwd = project();
    writeFileSync(
      join(cwd, 'broken.jsonl'),
      `not json\n${JSON.stringify({ testCaseId: 'a', solution: KNOWN })}\n`,
    );
    const { stdout, stderr, exitCode } = await fleetCommand(['known', 'import', '--strict', 'broken.jsonl'], {
      cwd,
    });
    expect(exitCode).toBe(2);
    expect(stdout).toBe('2 lines, 1 new\n');
    expect(stderr).toContain('broken.jsonl:1:');
  });
});
