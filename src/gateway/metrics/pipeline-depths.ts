import type { FleetClient } from '../../producers/fleet-client.js';
import { listedNames } from '../../producers/listed-queues.js';
import { type Depth, readDepth } from './depth.js';

/** Maximum number of pipeline queues that are read; the first ones by name. */
const MAX_QUEUES_READ = 100;

/** How full a pipeline queue is. */
export interface PipelineDepth {
  readonly queue: string;
  readonly depth: Depth;
}

/** Pipeline queues with jobs. */
export async function readPipelineDepths(fleet: FleetClient): Promise<PipelineDepth[]> {
  const names = (await listedNames(fleet)).filter((name) => !fleet.kinds.has(name));
  return Promise.all(
    names.slice(0, MAX_QUEUES_READ).map(async (queue) => ({ queue, depth: await readDepth(fleet, queue) })),
  );
}
