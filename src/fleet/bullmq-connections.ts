import { createIORedisClient, RedisConnection } from 'bullmq';
import { ScriptSharingRedis } from '../queues/script-sharing-redis.js';

/** Has BullMQ make its own connections with shared scripts, unless something else makes them already. */
export function useSharedScripts(): void {
  RedisConnection.clientFactory ??= ({ url, replyMapping: _, ...options }) =>
    createIORedisClient(
      url === undefined ? new ScriptSharingRedis(options) : new ScriptSharingRedis(url, options),
    );
}
