import type { OnDemandPackage } from './on-demand.js';

/** Packages that only benchmarks install; `docs/dependencies.md` lists exactly these (tested). */
export const ON_DEMAND = {
  /** Compiles its parsers for a minute and takes 455 MB. */
  dolos: { name: '@dodona/dolos-lib', version: '3.5.1', runsScripts: true },
  /** Plots are drawn rarely. */
  plot: { name: '@observablehq/plot', version: '0.6.17', with: { linkedom: '0.18.15' } },
} as const satisfies Record<string, OnDemandPackage>;
