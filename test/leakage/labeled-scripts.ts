import { readFileSync } from 'node:fs';
import { type LabeledScript, LabeledScriptSchema } from '../../scripts/evaluation/labeled-scripts.js';

const LEAK_MARKER = /\s*# LEAK$/;

/**
 * Labeled scripts of one file in `cases/`. A `.jsonl` file holds them as rows. A `.txt` file holds plain
 * Python under header lines `=== id | kind | leaky`, `clean` or `fixed` (the clean twin of the leaky script of
 * the same id); lines that end with `# LEAK` are the labeled blocks, and the marker is taken off.
 */
export function labeledScripts(file: string): LabeledScript[] {
  const text = readFileSync(new URL(`cases/${file}`, import.meta.url), 'utf8');
  return file.endsWith('.jsonl') ? rows(text) : sections(text);
}

function rows(text: string): LabeledScript[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => LabeledScriptSchema.parse(JSON.parse(line)));
}

function sections(text: string): LabeledScript[] {
  const scripts = new Map<string, LabeledScript>();
  for (const section of text.split(/^=== /m).slice(1)) {
    const [header = '', ...lines] = section.split('\n');
    const [id = '', kind = '', label = ''] = header.split('|').map((part) => part.trim());
    const script = lines.map((line) => line.replace(LEAK_MARKER, '')).join('\n');
    const twin = scripts.get(id);
    if (label === 'fixed' && twin !== undefined) {
      scripts.set(id, { ...twin, fixed: script });
      continue;
    }
    const blocks = lines
      .filter((line) => LEAK_MARKER.test(line))
      .map((line) => line.replace(LEAK_MARKER, ''));
    if ((label === 'leaky') !== blocks.length > 0) throw new Error(`${id}: labels and header do not agree`);
    scripts.set(id, LabeledScriptSchema.parse({ id, kind, leaky: label === 'leaky', blocks, script }));
  }
  return [...scripts.values()];
}
