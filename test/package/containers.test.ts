import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.js';
import { SETTINGS } from '../../src/config/settings.js';
import { packagePath } from '../../src/package-root.js';

const compose = readFileSync(packagePath('docker-compose.yml'), 'utf8');
const dockerfile = readFileSync(packagePath('Dockerfile'), 'utf8');
const { files, engines } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as {
  files: string[];
  engines: { node: string };
};

describe('docker-compose.yml', () => {
  it('runs a Redis that keeps jobs', () => {
    const command = /command: (redis-server .*)$/m.exec(compose)?.[1];
    expect(command).toContain('--appendonly yes');
    expect(command).toContain('--maxmemory-policy noeviction');
    expect(compose).toContain('redis-data:/data');
  });

  it('does not offer a Redis without a password to the network', () => {
    for (const [, port] of compose.matchAll(/^ {6}- "(.*:6379)"$/gm)) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('passes only settings on that the fleet reads', () => {
    const passed = [...compose.matchAll(/^ {6}- (FLEET_\w+)/gm)].map(([, name]) => name);
    const known = Object.values(SETTINGS).map(({ variable }) => variable as string);
    expect(passed).toContain('FLEET_REDIS_URL');
    expect(passed.filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });

  it('gives a stopping worker longer than the worker gives its jobs', () => {
    const seconds = Number(/stop_grace_period: (\d+)s/.exec(compose)?.[1]);
    expect(seconds).toBeGreaterThan(loadConfig({}).drainSeconds);
  });
});

describe('Dockerfile', () => {
  it('copies what the package ships, and only what is there', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?:--from=\S+ )?(.+) \S+$/gm)].flatMap(([, sources]) =>
      (sources ?? '').split(' ').map((source) => source.replace(/^\/app\//, '')),
    );
    const needed = files.filter((file) => file !== 'README.md');
    expect(needed.filter((file) => !copied.includes(file))).toEqual([]);
    expect(copied.filter((source) => source !== 'dist' && !existsSync(packagePath(source)))).toEqual([]);
  });

  it('runs on the oldest Node that is supported, and not as root', () => {
    const oldest = /\d+/.exec(engines.node)?.[0];
    for (const [, major] of dockerfile.matchAll(/^FROM node:(\d+)/gm)) expect(major).toBe(oldest);
    expect(dockerfile).toMatch(/^USER node$/m);
  });
});
