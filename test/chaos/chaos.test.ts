import { describe, expect, it } from 'vitest';
import { FAULTS, planFaults } from '../../chaos/plan.js';

const MINUTE_MS = 60_000;

// A whole run is `npm run chaos`: docs/reliability.md says what is known to break a promise in it.
describe('chaos', () => {
  it('the plan depends on the seed alone, knows every fault, and ends within the run', () => {
    const plan = planFaults(7, 20 * MINUTE_MS);
    expect(planFaults(7, 20 * MINUTE_MS)).toEqual(plan);
    expect(planFaults(8, 20 * MINUTE_MS)).not.toEqual(plan);
    expect(new Set(plan.map(({ fault }) => fault))).toEqual(new Set(FAULTS));
    for (const { atMs, lastsMs } of plan) expect(atMs + lastsMs).toBeLessThan(20 * MINUTE_MS);
  });
});
