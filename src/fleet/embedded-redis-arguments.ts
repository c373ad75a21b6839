import { spawnSync } from 'node:child_process';
import { REDIS_SOCKET } from './embedded-redis-protocol.js';

/**
 * Commands that access files, code or other hosts, or load serialized data. The fleet and BullMQ use none of them. A server
 * without them also rejects an append-only file that contains them. Redis 6.2 has all of them.
 */
const DISABLED_COMMANDS = [
  ...['MODULE', 'CONFIG', 'DEBUG', 'ACL', 'SAVE', 'BGSAVE'],
  ...['REPLICAOF', 'SLAVEOF', 'FAILOVER', 'SYNC', 'PSYNC', 'MIGRATE', 'RESTORE', 'RESTORE-ASKING'],
];

/** Redis and Valkey have these options since version 7; older servers do not start with them. */
const SWITCHED_OFF = ['enable-module-command', 'enable-debug-command', 'enable-protected-configs'];
const SWITCHES_SINCE = 7;

const VERSION_LIMIT_MS = 10_000;

/** All paths are relative to the folder of the embedded Redis, which is the supervisor's working directory. */
export function serverArguments(major: number, throwaway: boolean): string[] {
  return [
    ...['--port', '0', '--unixsocket', REDIS_SOCKET, '--unixsocketperm', '700'],
    // Its log goes to the standard output that the supervisor opened.
    ...['--dir', '.', '--logfile', '', '--daemonize', 'no', '--maxmemory-policy', 'noeviction'],
    ...['--save', '', '--appendonly', throwaway ? 'no' : 'yes', '--appendfsync', 'everysec'],
    ...(major >= SWITCHES_SINCE ? SWITCHED_OFF.flatMap((name) => [`--${name}`, 'no']) : []),
    ...DISABLED_COMMANDS.flatMap((name) => ['--rename-command', name, '']),
  ];
}

/** Major version of a server; 0 if it does not report one. */
export function majorVersion(binary: string): number {
  const { stdout } = spawnSync(binary, ['--version'], {
    encoding: 'utf8',
    env: {},
    timeout: VERSION_LIMIT_MS,
  });
  return Number(/\bv=(\d+)\./.exec(stdout ?? '')?.[1] ?? 0);
}
