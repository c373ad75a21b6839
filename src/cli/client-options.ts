import type { Config } from '../config/settings.js';
import type { FleetClientOptions } from '../producers/fleet-client.js';
import type { MemoryLimits } from '../producers/memory-admission.js';
import type { KindRegistry } from '../queues/registry.js';
import { configuredLimits } from './text-limits.js';

function memoryLimits({ redisAdmitPercent, maxStoredBytes }: Config): MemoryLimits {
  return {
    admitPercent: redisAdmitPercent,
    ...(maxStoredBytes === undefined ? {} : { maxBytes: maxStoredBytes }),
  };
}

/** How a command connects to the fleet. */
export function clientOptions(config: Config, redisUrl: string, kinds: KindRegistry): FleetClientOptions {
  return {
    redisUrl,
    prefix: config.prefix,
    kinds,
    limits: configuredLimits(config),
    retentionDays: config.retentionDays,
    offloadBytes: config.offloadBytes,
    memory: memoryLimits(config),
  };
}
