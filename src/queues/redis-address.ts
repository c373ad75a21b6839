import type { RedisOptions } from 'ioredis';
import { rememberAddress } from '../config/redact.js';
import { ConfigurationError } from '../errors.js';
import { type ClusterNode, clusterConnector, hashTagOf } from './redis-cluster.js';

/** Longest path that fits the socket address of Linux (108 bytes with its closing NUL). */
export const UNIX_SOCKET_PATH_LIMIT = 107;

/** Default hash tag of a cluster's address; it fits the prefix `{fleet}`. */
const DEFAULT_TAG = 'fleet';
const FORMS =
  'redis://[user:password@]host[:port][/db], rediss://… (TLS), unix:///path/to/socket[?db=N], ' +
  'redis+sentinel://host:port,host:port/MASTER or redis+cluster://host:port,host:port[?tag=TAG] (with TLS: rediss+…)';

/** The part of ioredis' options that the fleet sets; valid for ioredis and BullMQ. */
export interface RedisConnectionOptions {
  readonly host?: string;
  readonly port?: number;
  /** Path of a Unix socket; then there is no host and port. */
  readonly path?: string;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly tls?: Readonly<Record<string, never>>;
  /** Sentinels, and the name under which they know the master. */
  readonly sentinels?: ClusterNode[];
  readonly name?: string;
  readonly sentinelTLS?: Readonly<Record<string, never>>;
  readonly enableTLSForSentinelMode?: boolean;
  /** How a node of a cluster is found; `host` and `port` are those of the first node that is asked. */
  readonly Connector?: NonNullable<RedisOptions['Connector']>;
  readonly reconnectOnError?: (error: Error) => false | 1 | 2;
  readonly maxRetriesPerRequest?: number | null;
  readonly enableOfflineQueue?: boolean;
  readonly commandTimeout?: number;
  readonly socketTimeout?: number;
  readonly retryStrategy?: (times: number) => number;
  /** Maximum pause before a server that loads its data is asked again, in milliseconds. */
  readonly maxLoadingRetryTime?: number;
}

/**
 * Connection options for the address of a Redis server.
 *
 * @param address `redis://`, `rediss://`, `unix://`, `redis[s]+sentinel://` or `redis[s]+cluster://`; user, password and
 *   path percent-encoded.
 * @throws ConfigurationError for any other address. Its message never contains the address, which may contain a password.
 */
export function redisOptionsFrom(address: string): RedisConnectionOptions {
  const trimmed = address.trim();
  rememberAddress(trimmed);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(trimmed)?.[1]?.toLowerCase();
  if (scheme === undefined) throw invalidAddress('it has no scheme');
  const read = Object.hasOwn(SCHEMES, scheme) ? SCHEMES[scheme] : undefined;
  if (read === undefined) throw invalidAddress(`the scheme "${scheme}" is not known`);
  return read(trimmed);
}

const SCHEMES: Readonly<Record<string, (address: string) => RedisConnectionOptions>> = {
  redis: tcpOptions,
  rediss: (address) => ({ ...tcpOptions(address), tls: {} }),
  unix: unixOptions,
  'redis+sentinel': (address) => sentinelOptions(address),
  'rediss+sentinel': (address) => ({
    ...sentinelOptions(address),
    tls: {},
    sentinelTLS: {},
    enableTLSForSentinelMode: true,
  }),
  'redis+cluster': (address) => clusterOptions(address, {}),
  'rediss+cluster': (address) => clusterOptions(address, { tls: {} }),
};

interface HostList {
  readonly nodes: readonly [ClusterNode, ...ClusterNode[]];
  readonly login: Pick<RedisConnectionOptions, 'username' | 'password'>;
  /** Without its slash. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** `URL` cannot parse lists of hosts, so they are split here, and each host is parsed like that of `redis://`. */
function hostList(address: string): HostList {
  const [, login = '', hosts = '', path = '', query = ''] =
    /^[a-z+]+:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(address) ?? [];
  const node = (host: string) => {
    const { host: name = '', port = 6379 } = tcpOptions(`redis://${host}`);
    return { host: name, port };
  };
  const [first = '', ...others] = hosts.split(',');
  const { username, password } = tcpOptions(`redis://${login === '' ? '' : `${login}@`}${first}`);
  return {
    nodes: [node(first), ...others.map(node)],
    login: {
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
    },
    path: decode(path, 'path'),
    query: new URLSearchParams(query),
  };
}

function sentinelOptions(address: string): RedisConnectionOptions {
  const { nodes, login, path, query } = hostList(address);
  if (path === '') throw invalidAddress('it does not name the master of the sentinels');
  return { sentinels: [...nodes], name: path, ...login, ...database(query, undefined) };
}

function clusterOptions(
  address: string,
  security: Pick<RedisConnectionOptions, 'tls'>,
): RedisConnectionOptions {
  const { nodes, login, path, query } = hostList(address);
  if (path !== '') throw invalidAddress('a cluster has no databases');
  for (const name of query.keys()) {
    if (name !== 'tag') throw invalidAddress(`the parameter "${name}" is not known (only tag is)`);
  }
  const tag = query.get('tag') ?? DEFAULT_TAG;
  if (tag === '' || /[{}]/.test(tag)) throw invalidAddress('the tag must be a text without braces');
  return {
    ...nodes[0],
    ...login,
    ...security,
    Connector: clusterConnector({ nodes, tag, ...login, ...security }),
  };
}

/**
 * Asserts that the keys of a prefix are on the node that an address connects to: in a cluster, the hash tag decides.
 *
 * @throws ConfigurationError naming `FLEET_PREFIX`.
 */
export function assertPrefixFitsCluster(address: string, prefix: string): void {
  const trimmed = address.trim();
  if (!/^rediss?\+cluster:/i.test(trimmed)) return;
  const tag = hostList(trimmed).query.get('tag') ?? DEFAULT_TAG;
  if (hashTagOf(`${prefix}:`) === tag) return;
  throw new ConfigurationError(
    `A fleet in a Redis Cluster needs the hash tag of its address in its prefix: set FLEET_PREFIX to {${tag}}, ` +
      'or name another tag in FLEET_REDIS_URL (?tag=TAG).',
    { field: 'FLEET_PREFIX' },
  );
}

function tcpOptions(address: string): RedisConnectionOptions {
  if (!URL.canParse(address)) {
    throw invalidAddress(
      'it cannot be read (characters such as / # ? @ : % in a user or password must be percent-encoded)',
    );
  }
  const url = new URL(address);
  if (url.hostname === '') throw invalidAddress('it names no host');
  if (url.hash !== '') throw invalidAddress('a "#" must be written %23');
  const path = url.pathname.replace(/^\//, '');
  return {
    host: decode(url.hostname.replace(/^\[|\]$/g, ''), 'host'),
    port: url.port === '' ? 6379 : Number(url.port),
    ...credentials(url.username, url.password),
    ...database(url.searchParams, path === '' ? undefined : path),
  };
}

/** `URL` rejects credentials before an empty host, so this form is parsed here. */
function unixOptions(address: string): RedisConnectionOptions {
  const parts = /^unix:\/\/(?:([^@/:]*)(?::([^@/]*))?@)?(\/[^?#]+)(?:\?([^#]*))?$/i.exec(address);
  const encodedPath = parts?.[3];
  if (parts === null || encodedPath === undefined)
    throw invalidAddress('unix:// must be followed by an absolute path');
  const path = decode(encodedPath, 'path');
  if (path.includes('\0')) throw invalidAddress('the path contains a NUL character');
  const bytes = Buffer.byteLength(path);
  if (bytes > UNIX_SOCKET_PATH_LIMIT) {
    throw invalidAddress(`the socket path has ${bytes} bytes; the system allows ${UNIX_SOCKET_PATH_LIMIT}`);
  }
  return {
    path,
    ...credentials(parts[1] ?? '', parts[2] ?? ''),
    ...database(new URLSearchParams(parts[4] ?? ''), undefined),
  };
}

function credentials(
  username: string,
  password: string,
): Pick<RedisConnectionOptions, 'username' | 'password'> {
  return {
    ...(username === '' ? {} : { username: decode(username, 'user') }),
    ...(password === '' ? {} : { password: decode(password, 'password') }),
  };
}

function database(query: URLSearchParams, fromPath: string | undefined): Pick<RedisConnectionOptions, 'db'> {
  for (const name of query.keys()) {
    if (name !== 'db') throw invalidAddress(`the parameter "${name}" is not known (only db is)`);
  }
  const all = [...query.getAll('db'), ...(fromPath === undefined ? [] : [fromPath])];
  const [db] = all;
  if (db === undefined) return {};
  if (all.length > 1) throw invalidAddress('it names the database twice');
  if (!/^\d{1,6}$/.test(db)) throw invalidAddress('the database must be a number, 0 or more');
  return { db: Number(db) };
}

function decode(text: string, part: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw invalidAddress(
      `the ${part} has a "%" that encodes no character (write %25 for a percent sign)`,
      cause,
    );
  }
}

function invalidAddress(problem: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError(`The Redis address cannot be used: ${problem}. Expected ${FORMS}.`, {
    field: 'FLEET_REDIS_URL',
    cause,
  });
}

/** The address of a connection without user and password, for logs and messages. */
export function redisAddress(options: RedisConnectionOptions): string {
  const database = options.db === undefined ? '' : ` (database ${options.db})`;
  if (options.path !== undefined) return `unix://${options.path}${database}`;
  if (options.sentinels !== undefined) {
    const hosts = options.sentinels.map(({ host, port }) => `${host}:${port}`).join(',');
    return `${options.name} of the sentinels ${hosts}${database}`;
  }
  return `${options.host ?? 'localhost'}:${options.port ?? 6379}${database}`;
}
