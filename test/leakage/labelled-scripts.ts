import { readFileSync } from 'node:fs';
import { type LabelledScript, LabelledScriptSchema } from '../../src/leakage/evaluate.js';

/** The labelled scripts of one file in `cases/`. */
export function labelledScripts(name: string): LabelledScript[] {
  const text = readFileSync(new URL(`cases/${name}.jsonl`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => LabelledScriptSchema.parse(JSON.parse(line)));
}
