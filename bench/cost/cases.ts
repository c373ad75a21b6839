import { readdirSync } from 'node:fs';
import type { LabeledScript } from '../../scripts/evaluation/labeled-scripts.js';
import { seeded } from '../../test/contamination/pairs/corpus.js';
import { labeledScripts } from '../../test/leakage/labeled-scripts.js';
import { type ChangedLines, changedLines } from './changed-lines.js';
import { padded, shuffled } from './padding.js';

/** One script of the cost rows. */
export interface CostCase {
  readonly id: string;
  readonly leaky: boolean;
  readonly script: string;
  /** What a right correction changes, in lines of the script; nothing in a clean one. */
  readonly changes: readonly ChangedLines[];
}

const LEAKY = 30;
const CLEAN = 70;
/** Lines of a script in a run of MLE-STAR, from and to. */
const LINES = [100, 300] as const;
const SEED = 20;

/** The scripts of all sets with a fixed twin, and the clean ones: 30 and 70 of them, in an order that does not depend on the sets. */
export function costCases(): CostCase[] {
  const random = seeded(SEED);
  const sets = readdirSync(new URL('../../test/leakage/cases/', import.meta.url))
    .filter((file) => file.endsWith('.jsonl'))
    .sort();
  const all = shuffled(
    sets.flatMap((file) => labeledScripts(file).map((script) => ({ ...script, id: `${file} ${script.id}` }))),
    random,
  );
  const leaky = all.filter((script) => script.leaky && typeof script.fixed === 'string').slice(0, LEAKY);
  const clean = all.filter((script) => !script.leaky).slice(0, CLEAN);
  return shuffled([...leaky, ...clean], random).map((script) => costCase(script, random));
}

function costCase({ id, leaky, script, fixed }: LabeledScript, random: () => number): CostCase {
  const lines = Math.round(LINES[0] + random() * (LINES[1] - LINES[0]));
  const twins = leaky && typeof fixed === 'string' ? [script, fixed] : [script];
  const [original = '', corrected = original] = padded(twins, lines, random);
  return { id, leaky, script: original, changes: changedLines(original.split('\n'), corrected.split('\n')) };
}
