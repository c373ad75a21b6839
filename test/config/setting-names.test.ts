import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.js';
import { unknownSettings } from '../../src/config/setting-names.js';
import { SETTINGS } from '../../src/config/settings.js';
import { packagePath } from '../../src/package-root.js';

describe('a misspelled name of a setting is refused with the one that is meant', () => {
  it.each([
    ['FLEET_CONCURENCY', 'FLEET_CONCURRENCY'],
    ['FLEET_REDISURL', 'FLEET_REDIS_URL'],
    ['FLEET_PROMPT', 'FLEET_PROMPTS'],
    ['FLEET_BUDGET', 'FLEET_BUDGET_USD'],
    ['FLEET_BUDGET_EUR', 'FLEET_BUDGET_USD'],
    ['FLEET_USD_BUDGET', 'FLEET_BUDGET_USD'],
    ['FLEET_LOCK_SECONDS', 'FLEET_LOCK_MS'],
    ['FLEET_DRAIN', 'FLEET_DRAIN_SECONDS'],
    ['FLEET_WORKSPACES_ROOT', 'FLEET_WORKSPACE_ROOTS'],
    ['fleet_prefix', 'FLEET_PREFIX'],
    ['Fleet_Model', 'FLEET_MODEL'],
    ['FLET_PREFIX', 'FLEET_PREFIX'],
    ['FELET_MODEL', 'FLEET_MODEL'],
    ['FLEETS_MODEL', 'FLEET_MODEL'],
    ['FLEET_UNWELL_MS', 'FLEET_UNHEALTHY_MS'],
    ['FLEET_UNKNOWN', 'FLEET_IN_DOUBT'],
  ])('%s: %s', (name, meant) => {
    expect(() => loadConfig({ [name]: '1' })).toThrow(
      expect.objectContaining({
        code: 'invalid-configuration',
        field: name,
        message: expect.stringContaining(meant),
      }),
    );
    expect(unknownSettings({ [name]: '1' })).toEqual([]);
    expect(() => loadConfig({ [name]: '' })).not.toThrow();
  });

  it.each([
    'FLEET_PORT',
    'FLEET_SERVICE_HOST',
    'FLEET_REDIS_PORT_6379_TCP_ADDR',
    'FLEET_GATEWAY_SERVICE_PORT_HTTP',
    'FLEET_URL',
    'SHEET_MODEL',
    'MODEL',
    'PREFIX',
    'OTEL_SERVICE_NAME',
  ])('%s is another program’s', (name) => {
    expect(() => loadConfig({ [name]: '1' })).not.toThrow();
    expect(unknownSettings({ [name]: '1' })).toEqual([]);
  });

  it('a name that resembles none is told, and has no effect', () => {
    expect(loadConfig({ FLEET_SHIP_NAME: '1' })).toEqual(loadConfig({}));
    expect(unknownSettings({ FLEET_SHIP_NAME: '1', FLEET_MODEL: 'm', PATH: '/' })).toEqual([
      'FLEET_SHIP_NAME',
    ]);
  });

  it('every variable that the documents and the containers name is known', () => {
    const files = ['docker-compose.yml', 'README.md', 'clients/python/README.md', 'docs/containers.md'];
    const named = files.flatMap(
      (file) => readFileSync(packagePath(file), 'utf8').match(/\bFLEET_[A-Z_]*[A-Z]\b/g) ?? [],
    );
    const environment = Object.fromEntries(named.map((name) => [name, 'x']));
    const settings: readonly string[] = Object.values(SETTINGS).map(({ variable }) => variable);
    const others = Object.fromEntries(
      Object.entries(environment).filter(([name]) => !settings.includes(name)),
    );
    expect(Object.keys(others)).toContain('FLEET_TOKEN');
    expect(() => loadConfig(others)).not.toThrow();
    expect(unknownSettings(others)).toEqual([]);
  });
});
