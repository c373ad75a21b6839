import { describe, expect, it } from 'vitest';
import { FAULTS, planFaults } from '../../chaos/plan.js';
import { runChaos } from '../../chaos/run-chaos.js';

const MINUTE_MS = 60_000;

describe('chaos', () => {
  it('one fault of each kind within a few seconds: every promise is kept', async () => {
    // `npm run chaos` takes longer, with more workers and jobs; a seed then chooses the faults.
    const plan = FAULTS.map((fault, at) => ({
      ...{ fault, atMs: 500 + 500 * at, lastsMs: 300, victim: at / FAULTS.length },
    }));
    const report = await runChaos({ seed: 1_707, durationMs: 8_000, plan, workers: 2, submitEveryMs: 1_000 });
    expect(report.promises.filter(({ found, allowed }) => found > allowed)).toEqual([]);
    expect(report.kept).toBe(true);
    // The run was one: work was done while things broke.
    expect(report.completed).toBeGreaterThan(0);
    expect(report.verified).toBeGreaterThan(0);
    expect(report.followUps).toBeGreaterThan(0);
    expect(report.batched).toBeGreaterThan(0);
    expect(report.inFlightAtFaults).toBeGreaterThan(0);
    // A busy machine may not come as far as to the last ones.
    expect(report.faults['kill-worker']).toBe(1);
  }, 600_000);

  it('the plan depends on the seed alone, knows every fault, and ends within the run', () => {
    const plan = planFaults(7, 20 * MINUTE_MS);
    expect(planFaults(7, 20 * MINUTE_MS)).toEqual(plan);
    expect(planFaults(8, 20 * MINUTE_MS)).not.toEqual(plan);
    expect(new Set(plan.map(({ fault }) => fault))).toEqual(new Set(FAULTS));
    for (const { atMs, lastsMs } of plan) expect(atMs + lastsMs).toBeLessThan(20 * MINUTE_MS);
  });
});
