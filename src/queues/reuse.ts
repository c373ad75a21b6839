import { z } from 'zod';

/** Whose answers a job uses besides its own. */
export const REUSES = ['none', 'fleet'] as const;
export type Reuse = (typeof REUSES)[number];

export const reuseField = z
  .enum(REUSES)
  .describe(
    'fleet: a call is answered from the ledger of another job of the same tenant that asked exactly the same, as long as that job is stored. none: every call asks the model. Default: FLEET_REUSE of the worker.',
  );
