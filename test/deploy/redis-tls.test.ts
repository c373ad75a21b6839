import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';
import { fleetCommand, startFleetCommand } from '../support/fleet-command.js';
import { FleetOnRedis } from './redis-core.js';
import { freePort, makeCertificates, RedisProcess } from './redis-processes.js';

/** The rights that the documentation asks for, with the user name and the password filled in. */
const documented = /ACL SETUSER (fleet on .*)$/m.exec(
  readFileSync(packagePath('docs', 'redis.md'), 'utf8'),
)?.[1];
const PASSWORD = 'p@ss/w:rd%';

describe('Redis behind TLS, with an ACL user', () => {
  let server: RedisProcess;
  let port: number;
  let env: Record<string, string>;
  /** Of the same user without TLS, for what is about the rights alone. */
  let plain: Record<string, string>;
  const withPassword = (password: string) => `fleet:${encodeURIComponent(password)}@127.0.0.1`;

  beforeAll(async () => {
    const { authority, certificate, key } = makeCertificates();
    port = await freePort();
    server = await RedisProcess.start(
      [
        ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
        ...['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', authority],
      ],
      `user default off\nuser ${documented?.replace('PASSWORD', PASSWORD)}\n`,
    );
    plain = { FLEET_REDIS_URL: `redis://${withPassword(PASSWORD)}:${server.port}` };
    env = {
      FLEET_REDIS_URL: `rediss://${withPassword(PASSWORD)}:${port}`,
      NODE_EXTRA_CA_CERTS: authority,
      FLEET_AGENT: 'offline',
    };
  });
  afterAll(() => server.stop());

  it('takes a job through a worker, with the rights of docs/redis.md alone', async () => {
    const worker = startFleetCommand(['worker'], { env });
    await worker.printed('worker ready');
    const input = JSON.stringify({ solution: { content: 'x = 1\n' } });
    const submitted = await fleetCommand(['submit', 'solution-check', '--data', '-', '--wait', '--json'], {
      env,
      input,
    });
    expect(submitted).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(submitted.stdout)).toMatchObject({ state: 'completed', result: { status: 'clean' } });

    const listed = await fleetCommand(['list', '--json'], { env: plain });
    expect(JSON.parse(listed.stdout)).toHaveLength(1);
    const doctor = await fleetCommand(['doctor', '--json'], { env: plain });
    expect(doctor.stdout + doctor.stderr).not.toMatch(/NOPERM|no permissions/);
    expect(await worker.end('SIGTERM')).toBe(0);
    expect(worker.lines.filter((line) => /NOPERM|no permissions/.test(line))).toEqual([]);
  });

  it('takes jobs, a cancellation and a flow with these rights', async () => {
    const fleet = await FleetOnRedis.start(plain.FLEET_REDIS_URL ?? '', 'fleet');
    expect(await fleet.runCore()).toContain('extract completed');
    await fleet.closeUnexamined();
    expect(fleet.log.filter((line) => /NOPERM|no permissions/.test(line))).toEqual([]);
  });

  it('refuses a server whose certificate no known authority signed', async () => {
    const { NODE_EXTRA_CA_CERTS: _, ...unknowing } = env;
    const { exitCode, stderr } = await fleetCommand(['list'], { env: unknowing });
    expect([exitCode, stderr]).toEqual([expect.any(Number), expect.stringMatching(/certificate/)]);
    expect(exitCode).not.toBe(0);
    expect(stderr).not.toContain(encodeURIComponent(PASSWORD));
  });

  it('says that the password is wrong, without showing it', async () => {
    const { exitCode, stderr } = await fleetCommand(['list'], {
      env: { FLEET_REDIS_URL: `redis://${withPassword('another-one')}:${server.port}` },
    });
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('refuses the user or password');
    expect(stderr).not.toContain('another-one');
  });

  it('keeps the user out of the keys of others', async () => {
    const { exitCode, stderr } = await fleetCommand(['list'], { env: { ...plain, FLEET_PREFIX: 'others' } });
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(/NOPERM|permissions/);
  });
});
