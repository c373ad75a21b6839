import { withoutPasswords } from '../../src/cli/without-passwords.js';
import { type Environment, loadConfig } from '../../src/config/load-config.js';
import { SETTINGS } from '../../src/config/settings.js';
import { messageOf } from '../../src/errors.js';
import { assertPrefixFitsCluster, redisAddress, redisOptionsFrom } from '../../src/queues/redis-address.js';
import type { InputSource } from '../inputs/source.js';
import { mustHold, type Target } from '../target.js';

const VARIABLES = Object.values(SETTINGS).map(({ variable }) => variable);
const VALUES = [
  '0',
  '1',
  '-1',
  '1.5',
  '100',
  '2147483648',
  'true',
  'off',
  'json',
  'a,b',
  '*',
  '/tmp',
  'high',
  '{"a":1}',
];
const SCHEMES = ['redis', 'rediss', 'unix', 'redis+sentinel', 'rediss+cluster', 'redis+cluster', 'http', ''];
const PASSWORD = 'c0rrect-h0rse';

function address(source: InputSource): string {
  const login = source.pick(['', 'user@', `user:${PASSWORD}@`, `:${PASSWORD}@`, `u%40:${PASSWORD}@`]);
  const host = source.pick([
    'localhost',
    '127.0.0.1:6379',
    '[::1]:1',
    'a:1,b:2',
    '/run/redis.sock',
    source.word(['host', ':', '.']),
  ]);
  const rest = source.pick([
    '',
    '/0',
    '/master',
    '?db=1',
    '?tag=x',
    `#${source.word([])}`,
    `/${source.word(['%2F', '%zz', '?'])}`,
  ]);
  return `${source.pick(SCHEMES)}://${login}${host}${rest}`;
}

function environment(source: InputSource): Environment {
  const names = [...Array(1 + source.below(3))].map(() => source.pick(VARIABLES));
  return Object.fromEntries(names.map((name) => [name, source.word(VALUES)]));
}

function tried(run: () => unknown, text: string): unknown {
  try {
    return run();
  } catch (thrown) {
    mustHold(
      !text.includes(PASSWORD) || !messageOf(thrown).includes(PASSWORD),
      'no message shows a password',
    );
    throw thrown;
  }
}

export const config: Target = {
  name: 'config',
  about: 'settings from the environment, and addresses of Redis',
  generate: (source) => [
    JSON.stringify(environment(source)),
    address(source),
    source.word(['fleet', '{', '}']),
  ],
  open: () => ({
    run: ([variables = '{}', text = '', prefix = '']) => {
      if (text.includes(`:${PASSWORD}@`)) {
        mustHold(!withoutPasswords(text).includes(PASSWORD), 'an address is shown without its password');
      }
      const environment: Environment = JSON.parse(variables);
      const settings = loadConfig(environment);
      for (const value of Object.values(settings)) {
        mustHold(typeof value !== 'number' || Number.isFinite(value), 'a number is one');
      }
      const options = tried(() => redisOptionsFrom(text), text) as ReturnType<typeof redisOptionsFrom>;
      mustHold(!redisAddress(options).includes(PASSWORD), 'an address for logs holds no password');
      tried(() => assertPrefixFitsCluster(text, prefix), text);
      return [settings, redisAddress(options)];
    },
  }),
};
