import type { Redis } from 'ioredis';
import type { FleetClient, FleetClientOptions } from '../../producers/fleet-client.js';
import type { KindRegistry } from '../../queues/registry.js';

/** How children are submitted: plain data. */
export type ChildSubmission = Pick<
  FleetClientOptions,
  'redisUrl' | 'prefix' | 'limits' | 'retentionDays' | 'offloadBytes'
>;

/** Submits children. Most jobs start none, so it is loaded when the first one is started. */
export interface ChildProducer
  extends Pick<
      typeof import('../../producers/add-child.js'),
      'addChild' | 'assertChildDepth' | 'childId' | 'childKey' | 'prepareChild'
    >,
    Pick<
      typeof import('../../producers/add-child-evaluation.js'),
      'addChildEvaluation' | 'prepareChildEvaluation'
    > {
  readonly fleet: FleetClient;
}

/** Makes the producer of a process, on a connection that it never closes. */
export function childProducer(
  client: Redis,
  submission: ChildSubmission,
  kinds: KindRegistry,
): () => Promise<ChildProducer> {
  let producer: Promise<ChildProducer> | undefined;
  const load = async (): Promise<ChildProducer> => {
    const [{ FleetClient }, ofChildren, ofEvaluations] = await Promise.all([
      import('../../producers/fleet-client.js'),
      import('../../producers/add-child.js'),
      import('../../producers/add-child-evaluation.js'),
    ]);
    const { addChild, assertChildDepth, childId, childKey, prepareChild } = ofChildren;
    const { addChildEvaluation, prepareChildEvaluation } = ofEvaluations;
    return {
      fleet: FleetClient.on(client, { ...submission, kinds }),
      addChild,
      assertChildDepth,
      childId,
      childKey,
      prepareChild,
      addChildEvaluation,
      prepareChildEvaluation,
    };
  };
  return () => {
    producer ??= load();
    return producer;
  };
}
