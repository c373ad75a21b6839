import { type BuiltInKindName, KINDS, KindRegistry } from '../queues/registry.js';
import { defineKind, type Kind } from './define-kind.js';
import type { Processor } from './processor.js';

/** A processor that is imported for its first job. A dynamic import for each job would cost more than many jobs. */
function onFirstJob<K extends BuiltInKindName>(load: () => Promise<Processor<K>>): Processor<K> {
  let processor: Promise<Processor<K>> | undefined;
  return async (payload, work) => {
    processor ??= load();
    return (await processor)(payload, work);
  };
}

/** The built-in kinds with their processors. */
const BUILT_IN_KINDS: Readonly<Record<BuiltInKindName, Kind>> = {
  'solution-check': defineKind({
    ...KINDS['solution-check'],
    process: onFirstJob<'solution-check'>(
      async () => (await import('./solution-check.js')).processSolutionCheck,
    ),
  }),
  summarize: defineKind({
    ...KINDS.summarize,
    process: onFirstJob<'summarize'>(async () => (await import('./summarize.js')).processSummarize),
  }),
  extract: defineKind({
    ...KINDS.extract,
    process: onFirstJob<'extract'>(async () => (await import('./extract.js')).processExtract),
  }),
  contamination: defineKind({
    ...KINDS.contamination,
    process: onFirstJob<'contamination'>(
      async () => (await import('./contamination.js')).processContamination,
    ),
  }),
  'refinement-loop': defineKind({
    ...KINDS['refinement-loop'],
    process: onFirstJob<'refinement-loop'>(
      async () => (await import('./refinement-loop.js')).processRefinementLoop,
    ),
  }),
};

/**
 * The kinds that a program can process: the built-in ones and those of its users.
 * @throws KindError if two kinds have the same name.
 */
export function processedKinds(own: readonly Kind[] = []): KindRegistry<Kind> {
  return new KindRegistry(Object.values(BUILT_IN_KINDS), own);
}
