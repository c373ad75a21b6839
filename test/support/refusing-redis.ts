import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { TestRedis } from './redis.js';

/** A way in which a Redis that runs refuses commands. */
export interface Refusal {
  /** What the error of a submission says. */
  readonly says: RegExp;
  begin(admin: Redis, redis: TestRedis): Promise<void>;
  end(admin: Redis, redis: TestRedis): Promise<void>;
}

const config = (admin: Redis, name: string, value: string) => admin.config('SET', name, value);
const dropClients = (admin: Redis) => admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
/** In this place the server cannot put its dump. */
const blockedDump = ({ folder }: TestRedis) => join(folder, 'dump.rdb');

async function untilSaveFails(admin: Redis): Promise<void> {
  await admin.bgsave();
  while (!/rdb_last_bgsave_status:err/.test(await admin.info('persistence'))) await wait(10);
}

async function untilCluster(admin: Redis, state: 'ok' | 'fail'): Promise<void> {
  while (!String(await admin.call('CLUSTER', 'INFO')).includes(`cluster_state:${state}`)) await wait(10);
}

/** So many keys, of a kilobyte each, take ten seconds to load slowly. */
const FILL = "for i = 1, 2000 do redis.call('SET', 'filler:' .. i, string.rep('x', 1024)) end";
const EMPTY = "for i = 1, 2000 do redis.call('DEL', 'filler:' .. i) end";

/** Writes all keys into the file that is loaded first, each with its full size. */
async function rewriteFile(admin: Redis): Promise<void> {
  await config(admin, 'rdbcompression', 'no');
  await admin.bgrewriteaof();
  while (/aof_rewrite_(?:in_progress|scheduled):1/.test(await admin.info('persistence'))) await wait(10);
}

/** Lets a server that loads its data go on at full speed; returns when it has loaded them. */
async function endLoading({ socketPath }: TestRedis): Promise<void> {
  const client = new Redis({ path: socketPath, enableReadyCheck: false, disableClientInfo: true });
  await client.config('SET', 'key-load-delay', '0');
  while (/^loading:1/m.test(await client.info('persistence'))) await wait(10);
  await client.eval(EMPTY, 0);
  client.disconnect();
}

/** Ends what keeps Redis busy. The connection is a new one: that of the script waits for its reply. */
async function killScript({ socketPath }: TestRedis): Promise<void> {
  const client = new Redis({ path: socketPath, enableReadyCheck: false, disableClientInfo: true });
  client.on('error', () => undefined);
  await client.script('KILL').catch(() => undefined);
  client.disconnect();
}

/** Every refusal that a single server can be made to give while it runs; each ends without a restart. */
export const REFUSALS = {
  READONLY: {
    says: /READONLY /,
    begin: async (admin) => void (await admin.replicaof('127.0.0.1', 1)),
    end: async (admin) => void (await admin.replicaof('NO', 'ONE')),
  },
  MASTERDOWN: {
    says: /MASTERDOWN /,
    begin: async (admin) => {
      await config(admin, 'replica-serve-stale-data', 'no');
      await admin.replicaof('127.0.0.1', 1);
    },
    end: async (admin) => {
      await admin.replicaof('NO', 'ONE');
      await config(admin, 'replica-serve-stale-data', 'yes');
    },
  },
  MISCONF: {
    says: /MISCONF /,
    begin: async (admin, redis) => {
      mkdirSync(join(blockedDump(redis), 'in-the-way'), { recursive: true });
      await config(admin, 'save', '3600 1');
      await untilSaveFails(admin);
    },
    end: async (admin, redis) => {
      rmSync(blockedDump(redis), { recursive: true });
      await config(admin, 'save', '');
    },
  },
  NOREPLICAS: {
    says: /NOREPLICAS /,
    begin: async (admin) => void (await config(admin, 'min-replicas-to-write', '1')),
    end: async (admin) => void (await config(admin, 'min-replicas-to-write', '0')),
  },
  BUSY: {
    says: /BUSY /,
    begin: async (_admin, { socketPath }) => {
      const client = new Redis({ path: socketPath });
      await client.config('SET', 'busy-reply-threshold', '10');
      client.eval('while true do end', 0).then(
        () => client.disconnect(),
        () => client.disconnect(),
      );
      await wait(50);
    },
    end: async (_admin, redis) => killScript(redis),
  },
  OOM: {
    says: /no memory|jobs are accepted up to/,
    begin: async (admin) => void (await config(admin, 'maxmemory', '1')),
    end: async (admin) => void (await config(admin, 'maxmemory', '0')),
  },
  maxclients: {
    says: /max number of clients reached/,
    begin: async (admin) => {
      await config(admin, 'maxclients', '1');
      await dropClients(admin);
    },
    end: async (admin) => void (await config(admin, 'maxclients', '10000')),
  },
  NOAUTH: {
    says: /NOAUTH /,
    begin: async (admin) => {
      await config(admin, 'requirepass', 'changed');
      await dropClients(admin);
    },
    end: async (admin) => void (await config(admin, 'requirepass', '')),
  },
  NOPERM: {
    says: /NOPERM |can't run this command/,
    begin: async (admin) => void (await admin.call('ACL', 'SETUSER', 'default', '-@write')),
    end: async (admin) => void (await admin.call('ACL', 'SETUSER', 'default', '+@all')),
  },
  LOADING: {
    says: /LOADING /,
    begin: async (admin, redis) => {
      await admin.eval(FILL, 0);
      await rewriteFile(admin);
      await redis.restartLoading();
    },
    end: async (_admin, redis) => endLoading(redis),
  },
} as const satisfies Record<string, Refusal>;

/** Those that only a node of a cluster gives. */
export const CLUSTER_REFUSALS = {
  CLUSTERDOWN: {
    says: /CLUSTERDOWN /,
    // Not the slot of the fleet: the cluster refuses every key while one slot belongs to nobody.
    begin: async (admin) => {
      await admin.call('CLUSTER', 'DELSLOTS', '0');
      await untilCluster(admin, 'fail');
    },
    end: async (admin) => {
      await admin.call('CLUSTER', 'ADDSLOTS', '0');
      await untilCluster(admin, 'ok');
    },
  },
} as const satisfies Record<string, Refusal>;

export type RefusalName = keyof typeof REFUSALS | keyof typeof CLUSTER_REFUSALS;
export const ALL_REFUSALS: Readonly<Record<RefusalName, Refusal>> = { ...REFUSALS, ...CLUSTER_REFUSALS };
