import { Redis } from 'ioredis';
import { freePort } from '../deploy/redis-processes.js';
import { startTestRedis, type TestRedis } from './redis.js';
import { TcpProxy } from './tcp-proxy.js';

/** The only node of a Redis Cluster, behind a proxy: the cluster names the proxy's port as its own. */
export interface ClusterOfOne {
  /** Its Unix socket, for commands of the test itself; its `url` is that of the cluster. */
  readonly redis: TestRedis;
  readonly proxy: TcpProxy;
  stop(): Promise<void>;
}

const SLOTS = 16_384;

/** Needs a Redis 7 or newer. */
export async function startClusterOfOne(extraArguments: readonly string[] = []): Promise<ClusterOfOne> {
  const bus = String(await freePort());
  const args = [
    ...extraArguments,
    ...['--cluster-enabled', 'yes', '--cluster-port', bus, '--cluster-announce-ip', '127.0.0.1'],
  ];
  const server = await startTestRedis(args);
  const proxy = await TcpProxy.start({ path: server.socketPath });
  // For the case that it is started again.
  args.push('--cluster-announce-port', String(proxy.port));
  const admin = new Redis({ path: server.socketPath });
  await admin.config('SET', 'cluster-announce-port', String(proxy.port));
  await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', String(SLOTS - 1));
  while (!String(await admin.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  admin.disconnect();
  const redis = Object.create(server, {
    url: { value: `redis+cluster://127.0.0.1:${proxy.port}` },
  }) as TestRedis;
  return {
    redis,
    proxy,
    stop: async () => {
      await proxy.stop();
      await server.stop();
    },
  };
}
