/**
 * Measures the leakage analysis on labeled scripts: npm run eval:leakage -- CASES.jsonl [MORE.jsonl …] [--json]
 * A row has `id`, `kind`, `leaky`, `blocks`, `script`, and optionally `fixed` (the clean twin) and `note`.
 */
import { readFile } from 'node:fs/promises';
import {
  evaluateLeakage,
  type LabeledScript,
  LabeledScriptSchema,
  type LeakageEvaluation,
  type Proportion,
} from './labeled-scripts.js';

async function readScripts(path: string): Promise<LabeledScript[]> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  return lines.flatMap((line, at) => {
    if (line.trim() === '') return [];
    const row = LabeledScriptSchema.safeParse(JSON.parse(line));
    if (row.success) return [row.data];
    throw new Error(
      `${path}, line ${at + 1}: ${row.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ')}`,
    );
  });
}

function percent(proportion: Proportion): string {
  const value = proportion.value === null ? '   -' : proportion.value.toFixed(3);
  return `${value}  (${proportion.count} of ${proportion.of}; 95 % interval ${proportion.low.toFixed(3)} to ${proportion.high.toFixed(3)})`;
}

function show(result: LeakageEvaluation): void {
  const rows: [string, Proportion][] = [
    ['precision', result.precision],
    ['recall', result.recall],
    ['blocks right', result.blocksRight],
    ['corrected', result.corrected],
    ['corrected leaks', result.correctedLeaks],
    ['still leaky after', result.stillLeaky],
  ];
  for (const [name, proportion] of rows) console.log(`${name.padEnd(18)} ${percent(proportion)}`);
  for (const { id, kind, mistake, detail } of result.mistakes)
    console.log(`${mistake.padEnd(14)} ${id} [${kind}] ${detail}`);
}

const args = process.argv.slice(2);
const files = args.filter((arg) => !arg.startsWith('--'));
if (files.length === 0) {
  console.error('Name at least one file: npm run eval:leakage -- CASES.jsonl [--json]');
  process.exitCode = 2;
} else {
  const scripts = (await Promise.all(files.map(readScripts))).flat();
  const result = await evaluateLeakage(scripts);
  if (args.includes('--json')) console.log(JSON.stringify(result, null, 2));
  else show(result);
}
