import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shownAddress, withoutPasswords } from '../../src/cli/without-passwords.js';
import { fleetCommand } from '../support/fleet-command.js';

describe('addresses without their passwords', () => {
  it.each([
    ['redis://user:secret@host:6379/0', 'redis://user:***@host:6379/0'],
    ['redis://:secret@host', 'redis://:***@host'],
    ['REDISS://user:se@cret@host', 'REDISS://user:***@host'],
    ['redis://user:se/cret@host', 'redis://user:***@host'],
    ['redis://user:123/cret@host', 'redis://user:***@host'],
    [' redis://user:se cret@host', ' redis://user:***@host'],
    ['redis://user:sec:ret@[::1]:6379', 'redis://user:***@[::1]:6379'],
    ['unix://user:secret@/run/redis.sock', 'unix://user:***@/run/redis.sock'],
    ['user:secret@host:6379', 'user:***@host:6379'],
    [':secret@host', ':***@host'],
    ['redis://host/?password=secret&db=1', 'redis://host/?password=***&db=1'],
  ])('%s', (address, shown) => {
    expect(withoutPasswords(address)).toBe(shown);
  });

  it.each([
    'redis://host:6379/2',
    'redis://user@host:6379',
    'unix:///run/a:b@c.sock',
    '/data/a@b',
    'info',
    'fleet',
  ])('leaves %s as it is', (address) => {
    expect(withoutPasswords(address)).toBe(address);
  });

  it('never show a password, whatever it is', () => {
    const password = fc.string({ minLength: 1 }).map((text) => `<${text}>`);
    fc.assert(
      fc.property(password, fc.constantFrom('redis://', 'rediss://', 'unix://', ''), (secret, scheme) => {
        expect(withoutPasswords(`${scheme}user:${secret}@host`)).toBe(`${scheme}user:***@host`);
      }),
    );
  });
});

describe('the address of Redis', () => {
  it.each([
    ['redis://host:6379/2', 'redis://host:6379/2'],
    ['SECRET', '***'],
    ['host:6379', 'host:6379'],
    ['unix:///run/a:b@c.sock?db=1', 'unix:///run/a:b@c.sock?db=1'],
    ['redis+sentinel://h1:1,h2,[::1]:3/main?db=2', 'redis+sentinel://h1:1,h2,[::1]:3/main?db=2'],
    ['redis+cluster://a,b?tag={fleet}', 'redis+cluster://a,b?tag={fleet}'],
    ['redis://user:SECRET@host:6379/0', 'redis://user:***@host:6379/0'],
    ['rediss+sentinel://u:SECRET@h1:1,h2:2/main', 'rediss+sentinel://u:***@h1:1,h2:2/main'],
    ['unix://u:SECRET@/run/redis.sock', 'unix://u:***@/run/redis.sock'],
    ['user:SECRET@host:6379', 'user:***@host:6379'],
    ['redis://SECRET@host', 'redis://***@host'],
    ['redis://SECRET:@host', 'redis://***@host'],
    ['redis://u:SECRET', 'redis://***'],
    ['redis://u:SECRET:6379', 'redis://***'],
    ['redis://u:SECRET/host', 'redis://***'],
    ['redis:SECRET', '***'],
    ['SECRET is not an address', '***'],
    ['redis://host:6379:SECRET', 'redis://***'],
    ['redis://host SECRET', 'redis://***'],
    ['redis://host/?password=SECRET&db=1', 'redis://host/?password=***&db=1'],
    ['redis://host?x=SECRET&SECRET&db=SECRET!', 'redis://host?x=***&***&db=***'],
    ['redis://host?%70assword=SECRET#SECRET', 'redis://host?***#***'],
    ['unix:///run/r.sock?password=SECRET', 'unix:///run/r.sock?password=***'],
    ['redis://host#SECRET', 'redis://host#***'],
    ['redis://u:p@host?x=a@SECRET', 'redis://u:***@SECRET'],
  ])('%s', (address, shown) => {
    expect(shownAddress(address)).toBe(shown);
  });

  it('shows no password, whatever it is and whatever is missing beside it', () => {
    const secret = fc.string({ minLength: 1 }).map((text) => `s<${text}>`);
    const forms = [
      (text: string) => `redis://user:${text}@host`,
      (text: string) => `redis://${text}@host`,
      (text: string) => `redis://user:${text}`,
      (text: string) => `user:${text}`,
      (text: string) => `redis://host?password=${encodeURIComponent(text)}`,
      (text: string) => `rediss+cluster://:${text}@a:1,b:2`,
    ];
    fc.assert(
      fc.property(secret, fc.constantFrom(...forms), (text, form) => {
        expect(shownAddress(form(text))).not.toMatch(/s<|s%3C/);
      }),
    );
  });
});

describe('fleet config', () => {
  it.each([[[]], [['--json']]])('shows no password with %j', async (flags) => {
    const env = { FLEET_REDIS_URL: 'redis://user:top/secret@host:6379' };
    const { stdout, exitCode } = await fleetCommand(['config', ...flags], { env });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('redis://user:***@host:6379');
    expect(stdout).not.toContain('secret');
  });
});

describe('FLEET_OPINION', () => {
  it('is shown by fleet config', async () => {
    const { stdout } = await fleetCommand(['config', '--json'], { env: { FLEET_OPINION: 'analysis' } });
    const shown = { variable: 'FLEET_OPINION', value: 'analysis', source: 'environment' };
    expect(JSON.parse(stdout).settings).toContainEqual(shown);
  });

  it.each(['worker', 'serve', 'config', 'check'])(
    'with another value: %s does not start',
    async (command) => {
      const env = { FLEET_OPINION: 'model' };
      const args = command === 'check' ? ['check', 'any.py'] : [command];
      const { stderr, exitCode } = await fleetCommand(args, { env, endsAtOnce: true });
      expect(stderr).toContain('FLEET_OPINION');
      expect(exitCode).toBe(2);
    },
  );
});

describe('a secret in the wrong variable', () => {
  it.each([[[]], [['--json']]])('is not shown by fleet config with %j', async (flags) => {
    const key = 'sk-ant-0123456789-S3CR3T';
    const variables = [
      'FLEET_MODEL',
      'FLEET_PROMPTS',
      'FLEET_PYTHON',
      'FLEET_PREFIX',
      'FLEET_TRUSTED_HOSTS',
      'FLEET_MODELS',
    ];
    const env = Object.fromEntries(
      [...variables, 'ANTHROPIC_API_KEY', 'FLEET_REDIS_URL'].map((name) => [name, key]),
    );
    const { stdout, stderr, exitCode } = await fleetCommand(['config', ...flags], { env, ownProcess: true });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('(prompt-not-found)');
    expect(stdout).toContain('FLEET_TRUSTED_HOSTS');
    expect(stdout + stderr).not.toContain('S3CR3T');
  });
});

describe('FLEET_DATA_DIR', () => {
  it('must exist: a typo makes no folders', async () => {
    const env = { FLEET_DATA_DIR: 'no/such/folder' };
    const { stderr, exitCode } = await fleetCommand(['list'], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('no/such/folder');
    expect(stderr).toContain('FLEET_DATA_DIR');
  });
});
