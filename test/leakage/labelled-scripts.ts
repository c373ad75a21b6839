import { readFileSync } from 'node:fs';
import { type LabelledScript, LabelledScriptSchema } from '../../src/leakage/evaluate.js';

const MARK = /\s*# LEAK$/;

/**
 * Labelled scripts of one file in `cases/`. A `.jsonl` file holds them as rows. A `.txt` file holds plain
 * Python under header lines `=== id | kind | leaky`, `clean` or `fixed` (the clean twin of the leaky script of
 * the same id); lines that end with `# LEAK` are the labelled blocks, and the mark is taken off.
 */
export function labelledScripts(file: string): LabelledScript[] {
  const text = readFileSync(new URL(`cases/${file}`, import.meta.url), 'utf8');
  return file.endsWith('.jsonl') ? rows(text) : sections(text);
}

function rows(text: string): LabelledScript[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => LabelledScriptSchema.parse(JSON.parse(line)));
}

export function sections(text: string): LabelledScript[] {
  const scripts = new Map<string, LabelledScript>();
  for (const section of text.split(/^=== /m).slice(1)) {
    const [header = '', ...lines] = section.split('\n');
    const [id = '', kind = '', label = ''] = header.split('|').map((part) => part.trim());
    const script = lines.map((line) => line.replace(MARK, '')).join('\n');
    const twin = scripts.get(id);
    if (label === 'fixed' && twin !== undefined) {
      scripts.set(id, { ...twin, fixed: script });
      continue;
    }
    const blocks = lines.filter((line) => MARK.test(line)).map((line) => line.replace(MARK, ''));
    if ((label === 'leaky') !== blocks.length > 0) throw new Error(`${id}: labels and header do not agree`);
    scripts.set(id, LabelledScriptSchema.parse({ id, kind, leaky: label === 'leaky', blocks, script }));
  }
  return [...scripts.values()];
}
