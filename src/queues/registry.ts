import type { z } from 'zod';
import { contamination } from './contamination.js';
import { extract } from './extract.js';
import { solutionCheck } from './solution-check.js';
import { summarize } from './summarize.js';

/** All job kinds. This is the only list: all code that lists kinds reads it. */
export const KINDS = {
  'solution-check': solutionCheck,
  summarize,
  extract,
  contamination,
} as const;

export type KindName = keyof typeof KINDS;
export type PayloadOf<K extends KindName> = z.infer<(typeof KINDS)[K]['payload']>;
export type ResultOf<K extends KindName> = z.infer<(typeof KINDS)[K]['result']>;

export const KIND_NAMES = Object.keys(KINDS) as KindName[];

export function isKindName(name: string): name is KindName {
  return Object.hasOwn(KINDS, name);
}
