import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.js';
import { runHere } from '../support/command-in-process.js';
import { emptyFolder, fleetCommand } from '../support/fleet-command.js';

describe('flags of fleet worker have the bounds of their variables', () => {
  it.each([
    ['--drain', '3000000', 'FLEET_DRAIN_SECONDS'],
    ['--drain', '-1', 'FLEET_DRAIN_SECONDS'],
    ['--drain', '0x10', 'FLEET_DRAIN_SECONDS'],
    ['--drain', '', 'FLEET_DRAIN_SECONDS'],
    ['--concurrency', '0', 'FLEET_CONCURRENCY'],
    ['--concurrency', '10001', 'FLEET_CONCURRENCY'],
  ])('%s %j is refused like %s', async (flag, value, variable) => {
    const { stderr, exitCode } = await runHere(['worker', `${flag}=${value}`], emptyFolder());
    expect(exitCode).toBe(2);
    expect(stderr).toContain(flag);
    if (value !== '') expect(() => loadConfig({ [variable]: value })).toThrow(variable);
  });
});

describe('FLEET_LOG_LEVEL of a command with its own worker', () => {
  it.each([
    ['', 0],
    ['info', 1],
  ])('%j: %i or more log lines', async (level, least) => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, 'data.json'), '{"solution": {"content": "print(1)"}}');
    const args = ['submit', 'solution-check', '--data', 'data.json', '--wait'];
    const { stderr } = await fleetCommand(args, { cwd, env: { FLEET_LOG_LEVEL: level } });
    const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
    if (least === 0) expect(lines).toEqual([]);
    else expect(lines.length).toBeGreaterThanOrEqual(least);
  });
});
