import { collectDefaultMetrics, Registry } from 'prom-client';

/** How often the event loop is looked at, in milliseconds; by default a gateway without requests would wake up a hundred times a second. */
const RESOLUTION_MS = 50;

let registry: Registry | undefined;

/**
 * The metrics of this process: memory, processor time, event loop. All gateways of the process share them: what observes the
 * event loop and the garbage collection is never stopped.
 */
export function processMetrics(): Registry {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: RESOLUTION_MS });
  }
  return registry;
}
