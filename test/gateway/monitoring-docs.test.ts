import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packagePath } from '../../src/package-root.js';
import { redisOfFile } from '../support/redis.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';

const read = (...path: string[]) => readFileSync(packagePath(...path), 'utf8');
const monitoring = read('docs', 'monitoring.md');
const alerts = read('deploy', 'prometheus', 'alerts.yml');
const dashboard = read('deploy', 'grafana', 'solution-fleet.json');

const redis = redisOfFile();
let gateway: TestGateway;
/** Names of the metrics that a gateway serves. */
let served: Set<string>;

beforeAll(async () => {
  gateway = await startTestGateway(redis, 'monitoring');
  const { text } = await gateway.send('GET', '/metrics');
  served = new Set([...text.matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name ?? ''));
});
afterAll(async () => {
  await gateway.close();
});

/** First cells of the rows of a document's tables that fit. */
function rows(document: string, pattern: RegExp): string[] {
  return [...document.matchAll(pattern)].map(([, name]) => name ?? '').sort();
}

/** A metric of the fleet in PromQL, with the innermost aggregation over its series. */
const USE = /(?:(sum|max|min|avg)(?: by \([\w, ]+\))? ?\((?:(?:rate|increase)\()?)?\b(fleet_(?!token)\w+)/g;

/** Names of metrics in PromQL, without the parts of histograms. */
function metricsIn(text: string): string[] {
  const names = text.match(/\b(fleet|nodejs|process)_[a-z0-9_]+/g) ?? [];
  return [...new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, '')))].filter(
    (name) => name !== 'fleet_token',
  );
}

describe('docs/http-api.md', () => {
  it('lists every route with its role, and no other', async () => {
    const { json: document } = await gateway.send('GET', '/v1/openapi.json');
    const routes = Object.entries(
      document.paths as Record<string, Record<string, { 'x-role'?: string }>>,
    ).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        `${method.toUpperCase()} ${path}`,
        operation['x-role'] ?? '–',
      ]),
    );
    const documented = [...read('docs', 'http-api.md').matchAll(/^\| `([A-Z]+ \/\S*)` \| (\S+) \|/gm)];
    expect(documented.map(([, route, role]) => [route, role]).sort()).toEqual(routes.sort());
  });
});

describe('docs/monitoring.md and deploy/', () => {
  it('list every metric of the fleet, and no other', () => {
    const own = [...served].filter((name) => name.startsWith('fleet_')).sort();
    expect(rows(monitoring, /^\| `(fleet_[a-z_]+)` \|/gm)).toEqual(own);
  });

  it('alerts and dashboard ask only for metrics that are served', () => {
    const asked = [...metricsIn(alerts), ...metricsIn(dashboard)];
    expect(asked.length).toBeGreaterThan(15);
    expect(asked.filter((name) => !served.has(name))).toEqual([]);
  });

  it('never add up what every gateway reports, and add up what each counts for itself', () => {
    const expressions = [
      ...(parse(alerts) as { groups: { rules: { expr: string }[] }[] }).groups.flatMap(({ rules }) => rules),
      ...(JSON.parse(dashboard) as { panels: { targets?: { expr: string }[] }[] }).panels.flatMap(
        ({ targets = [] }) => targets,
      ),
    ].map(({ expr }) => expr);
    expect(expressions.length).toBeGreaterThan(30);
    const fleetWide = expressions.flatMap((expr) => [...expr.matchAll(USE)]);
    expect(fleetWide.length).toBeGreaterThan(30);
    for (const [use = '', aggregation, metric = ''] of fleetWide) {
      const fitting = metric.startsWith('fleet_http_') ? ['sum'] : ['max', 'min'];
      expect(fitting, use).toContain(aggregation);
    }
  });

  it('list every alert, each of which says what to do', () => {
    const names = rows(alerts, /- alert: (\w+)/g);
    expect(rows(monitoring, /^\| `(Fleet\w+)` \|/gm)).toEqual(names);
    expect(alerts.match(/summary:/g)).toHaveLength(names.length);
    expect(alerts.match(/description:/g)).toHaveLength(names.length);
  });

  it('the dashboard is JSON with panels that do not overlap', () => {
    const { panels } = JSON.parse(dashboard) as {
      panels: { id: number; gridPos: { x: number; y: number; w: number; h: number } }[];
    };
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});
