import { describe, expect, it } from 'vitest';
import { describeConfig, loadConfig } from '../../src/config/load-config.js';
import { SETTINGS } from '../../src/config/settings.js';
import { ConfigurationError } from '../../src/errors.js';

describe('configuration', () => {
  it('of an empty environment is all defaults', () => {
    expect(describeConfig({}).every(({ source }) => source === 'default')).toBe(true);
    expect(loadConfig({})).toMatchObject({
      agent: 'auto',
      prefix: 'fleet',
      python: 'python3',
      concurrency: 10,
    });
    expect(loadConfig({}).redisUrl).toBeUndefined();
  });

  it('says where a value comes from', () => {
    const entries = describeConfig({ FLEET_CONCURRENCY: '3' });
    expect(entries.find(({ name }) => name === 'concurrency')).toEqual({
      name: 'concurrency',
      variable: 'FLEET_CONCURRENCY',
      value: 3,
      source: 'environment',
    });
  });

  it('treats an empty variable as unset, except for the one where empty means none', () => {
    const config = loadConfig({ FLEET_REDIS_URL: '', FLEET_CONCURRENCY: '', FLEET_PYTHON: '' });
    expect(config.redisUrl).toBeUndefined();
    expect(config.concurrency).toBe(10);
    expect(config.python).toBe('');
  });

  it.each([
    ['FLEET_CONCURRENCY', 'many'],
    ['FLEET_CONCURRENCY', '0'],
    ['FLEET_AGENT', 'human'],
    ['FLEET_OPINION', 'model'],
    ['FLEET_OPINION', 'both,agent'],
    ['FLEET_AUDIT_SHARE', '2'],
    ['FLEET_CORRECTIONS', 'all'],
    ['FLEET_AUDIT_SHARE', '-0.1'],
    ['FLEET_LOCK_MS', '1.5'],
    ['FLEET_LOG_LEVEL', 'loud'],
    ['FLEET_BUDGET_USD', ' '],
    ['FLEET_BUDGET_USD', '0x10'],
    ['FLEET_BUDGET_USD', '1e3'],
    ['FLEET_BUDGET_USD', '-1'],
    ['FLEET_BUDGET_USD', 'Infinity'],
    ['FLEET_CONCURRENCY', '0x3'],
    ['FLEET_CONCURRENCY', '\t'],
    ['FLEET_RETENTION_DAYS', '0'],
  ])('refuses %s=%s and names the variable and the value', (variable, value) => {
    expect(() => loadConfig({ [variable]: value })).toThrow(ConfigurationError);
    expect(() => loadConfig({ [variable]: value })).toThrow(variable);
    expect(() => loadConfig({ [variable]: value })).toThrow(JSON.stringify(value));
  });

  it('takes plain decimal numbers', () => {
    const config = loadConfig({
      FLEET_BUDGET_USD: '0.50',
      FLEET_RETENTION_DAYS: '1.5',
      FLEET_CONCURRENCY: '07',
    });
    expect(config).toMatchObject({ budgetUsd: 0.5, retentionDays: 1.5, concurrency: 7 });
  });

  it('states the default that it has', () => {
    for (const { variable, schema, default: stated } of Object.values(SETTINGS)) {
      const actual = schema.safeParse(undefined).data;
      if (actual === undefined) expect(stated, variable).toMatch(/^unset: /);
      else expect(stated, variable).toBe(String(actual));
    }
  });
});
