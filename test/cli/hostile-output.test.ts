import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { escapeControlCharsInLine } from '../../src/cli/terminal/escape-control-chars.js';
import { packagePath } from '../../src/package-root.js';
import { emptyFolder, fleetCommand } from '../support/fleet-command.js';
import { expectHarmless, HOSTILE_NAME, HOSTILE_TEXT } from '../support/hostile-text.js';
import { testProgram } from '../support/programs.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();

const outputs = new Map<string, Map<string, string>>();

/** Printers by name, with what each printed. */
function printed(...flags: string[]): Map<string, string> {
  const known = outputs.get(flags.join());
  if (known !== undefined) return known;
  const program = testProgram('test/cli/hostile-printers');
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-c', 'exec "$@" 2>&1', 'sh', process.execPath, program, ...flags],
    {
      encoding: 'utf8',
    },
  );
  expect(stderr).toBe('');
  const sections = stdout.split(/^=== (.*)\n/m).slice(1);
  const output = new Map(
    sections.flatMap((name, at) => (at % 2 === 0 ? [[name, sections[at + 1] ?? ''] as const] : [])),
  );
  outputs.set(flags.join(), output);
  return output;
}

describe('a hostile text through every printer', () => {
  it.each([[[]], [['--colors']]])('reaches neither the terminal nor a runner %j', (flags) => {
    const colors = flags.length > 0;
    const all = printed(...flags);
    expect(all.size).toBeGreaterThan(14);
    for (const [name, text] of all) {
      expect(text, name).not.toBe('');
      if (name !== 'check as github') {
        expectHarmless(text, { colors });
        continue;
      }
      // Annotations are meant to be commands; each is one line, as the error beside them is.
      const lines = text.trimEnd().split('\n');
      const annotations = lines.filter((line) => line.startsWith('::'));
      // The leak, what could not be written, and the file that was not checked.
      expect(annotations).toHaveLength(3);
      expect(annotations[0]).toMatch(
        /^::error file=a%0A%3A%3Aerror%3A%3Apwned%0A.*,line=1,.*::a%0A::error::pwned/,
      );
      expectHarmless(lines.filter((line) => !line.startsWith('::')).join('\n'), { colors });
      expectHarmless((annotations[0] ?? '').slice(2).replaceAll('##', ''), { colors });
    }
  });

  it('is the same data in JSON', () => {
    const json = JSON.parse(printed().get('json') ?? '') as Record<string, string>;
    expect(Object.entries(json)).toEqual([[HOSTILE_TEXT, HOSTILE_TEXT]]);
  });

  it('makes no more lines than a tame one where a line is printed', () => {
    const all = printed();
    const lines = (name: string) => (all.get(name) ?? '').trimEnd().split('\n').length;
    expect({
      line: lines('line'),
      error: lines('error'),
      job: lines('job line'),
      usage: lines('usage error'),
    }).toEqual({ line: 1, error: 2, job: 1, usage: 2 });
  });
});

describe('commands that are given hostile names and files', () => {
  const name = `${HOSTILE_NAME.replaceAll('/', '').slice(0, 120)}.py`;
  const known = `{"testCaseId": ${HOSTILE_TEXT}}\n{"${HOSTILE_TEXT.replaceAll('\n', ' ')}": 1}\n{"testCaseId": 1}\n`;

  it.each(
    [
      ['check', name, 'missing.py'],
      ['check', '--json', name],
      ['check', '--format', 'sarif', name],
      ['contamination', '--known', 'known\u001b.jsonl', '--output', name],
      ['known', 'import', 'known\u001b.jsonl'],
      ['token', 'add', HOSTILE_NAME.slice(0, 200)],
      ['token', 'list'],
      ['token', 'revoke', HOSTILE_NAME],
      ['get', HOSTILE_NAME],
      ['submit', HOSTILE_NAME, '--data', name],
      ['submit', 'extract', '--data', name],
      ['list', `--${HOSTILE_NAME}`],
      [HOSTILE_NAME],
      ['config'],
    ].map(
      (args, at) => [`${at + 1}: ${escapeControlCharsInLine(args.join(' ')).slice(0, 40)}`, args] as const,
    ),
  )('fleet %s', async (_name, args) => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, name), `x = 1 # ${HOSTILE_NAME}\n`);
    writeFileSync(join(cwd, 'known\u001b.jsonl'), known);
    // A command with a worker of its own does not start with such an interpreter.
    const env = args[0] === 'check' ? {} : { FLEET_REDIS_URL: redis.url, FLEET_PYTHON: HOSTILE_NAME };
    const { stdout, stderr } = await fleetCommand(args, { cwd, env });
    expect(stdout + stderr).not.toBe('');
    expectHarmless(stdout);
    expectHarmless(stderr);
  });
});

it('nothing in src/cli writes to a standard stream but the printers', () => {
  const files = readdirSync(packagePath('src', 'cli'), { recursive: true, encoding: 'utf8' });
  const writing = files
    .filter((file) => file.endsWith('.ts'))
    .filter((file) =>
      /(?:stdout|stderr|stream)\.write\(|console\./.test(
        readFileSync(packagePath('src', 'cli', file), 'utf8'),
      ),
    );
  expect(writing.sort()).toEqual([join('terminal', 'print.ts'), join('terminal', 'progress-line.ts')]);
});
