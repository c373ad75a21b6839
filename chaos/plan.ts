import { pick, randomFrom } from './random.js';

export const FAULTS = [
  'kill-worker',
  'freeze-worker',
  'stop-worker',
  'kill-redis',
  'cut-links',
  'black-hole',
  'half-open',
  'slow-link',
  'refuse-writes',
] as const;
export type FaultName = (typeof FAULTS)[number];

export interface PlannedFault {
  readonly fault: FaultName;
  /** When it begins, in milliseconds after the start. */
  readonly atMs: number;
  /** How long it lasts; 0 if it is over at once. */
  readonly lastsMs: number;
  /** A number from 0 up to 1 that chooses the worker, or the way in which Redis refuses. */
  readonly victim: number;
}

/** Some refusals must last longer than locks do. */
const REFUSED_STRETCH = 2;
/** No fault begins in the last part of the run, so that every fault ends within it. */
const QUIET_END_MS = 6_000;
const GAP_MS = { least: 700, spread: 1_800 };

const WEIGHTS: readonly (readonly [number, FaultName])[] = [
  [6, 'kill-worker'],
  [2, 'freeze-worker'],
  [2, 'stop-worker'],
  [1, 'kill-redis'],
  [2, 'cut-links'],
  [1, 'black-hole'],
  [1, 'half-open'],
  [1, 'slow-link'],
  [6, 'refuse-writes'],
];

/** The planned faults: the same for the same seed. */
export function planFaults(seed: number, durationMs: number): PlannedFault[] {
  const random = randomFrom(seed);
  const plan: PlannedFault[] = [];
  let atMs = 2_000;
  while (atMs < durationMs - QUIET_END_MS) {
    const fault = pick(random, WEIGHTS);
    const lastsMs = ['kill-worker', 'stop-worker', 'cut-links'].includes(fault) ? 0 : 300 + random() * 2_700;
    const stretched = fault === 'refuse-writes' ? REFUSED_STRETCH * lastsMs : lastsMs;
    plan.push({ fault, atMs, lastsMs: stretched, victim: random() });
    // One after another: a quick succession shows the same as two faults at once.
    atMs += stretched + GAP_MS.least + random() * GAP_MS.spread;
  }
  return plan;
}
