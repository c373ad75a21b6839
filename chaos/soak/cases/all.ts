import type { SoakCase } from '../soak-case.js';
import { CALL_CASES } from './calls.js';
import { REDIS_CASES } from './redis.js';
import { SCALE_CASES } from './scale.js';
import { STOPPING_CASES } from './stopping.js';

/** Every case, in order of execution. */
export const SOAK_CASES: readonly SoakCase[] = [
  ...STOPPING_CASES,
  ...REDIS_CASES,
  ...CALL_CASES,
  ...SCALE_CASES,
];
