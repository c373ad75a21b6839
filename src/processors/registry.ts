import type { KindName } from '../queues/registry.js';
import type { Processor } from './processor.js';

type Loaders = { readonly [K in KindName]: () => Promise<Processor<K>> };

/** Imports the processor of each kind when a worker first needs it. */
const LOADERS: Loaders = {
  'solution-check': async () => (await import('./solution-check.js')).processSolutionCheck,
  summarize: async () => (await import('./summarize.js')).processSummarize,
  extract: async () => (await import('./extract.js')).processExtract,
  contamination: async () => (await import('./contamination.js')).processContamination,
};

/** Loaded processors: a dynamic import for each job would cost more than many jobs. */
const loaded = new Map<KindName, Promise<Processor<KindName>>>();

/** Kinds that this version can process. */
export const PROCESSED_KINDS = Object.keys(LOADERS) as KindName[];

export function loadProcessor<K extends KindName>(kind: K): Promise<Processor<K>> {
  let processor = loaded.get(kind);
  if (processor === undefined) {
    processor = LOADERS[kind]() as Promise<Processor<KindName>>;
    loaded.set(kind, processor);
  }
  return processor as Promise<Processor<K>>;
}
