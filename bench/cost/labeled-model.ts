import { createHash } from 'node:crypto';
import type { CostCase } from './cases.js';
import { type ChangedLines, changedLines } from './changed-lines.js';

/** How often the model is wrong about a script, whatever part of it it is shown. */
const ERROR_RATE = 0.06;

/** Unchanged lines between two changes that are still one leak for it. */
const SAME_LEAK = 10;

const YES = 'Yes Data Leakage';
const NO = 'No Data Leakage';

interface Leak {
  readonly block: string;
  readonly corrected: string;
}

/** What the model is asked. */
export interface ModelRequest {
  /** The instructions and the question. */
  readonly text: string;
  /** Fields of an entry of the structured output that is asked for; none: plain text. */
  readonly fields: readonly string[];
}

/**
 * Answers as a model does: it knows the labels, and is wrong about some scripts, always the same ones, whether it is shown all of a
 * script or a part. It sees no leak whose lines it is not shown. Its corrections are the lines of the fixed twin.
 */
export class LabeledModel {
  readonly #cases: readonly (CostCase & { readonly leaks: readonly Leak[]; readonly isWrong: boolean })[];
  readonly #casesByLine = new Map<string, Set<number>>();

  constructor(cases: readonly CostCase[]) {
    this.#cases = cases.map((one) => ({ ...one, leaks: leaksOf(one), isWrong: isWrongAbout(one.id) }));
    for (const [at, { script }] of cases.entries()) {
      for (const line of new Set(script.split('\n'))) {
        const known = this.#casesByLine.get(line);
        if (known === undefined) this.#casesByLine.set(line, new Set([at]));
        else known.add(at);
      }
    }
  }

  answer({ text, fields }: ModelRequest): string {
    const shown = tagged(text, 'script');
    const about = this.#caseOf(shown);
    const block = tagged(text, 'block');
    if (block !== '') return this.#correction(about, block, fields);
    const isSeen = about.leaky && !about.isWrong;
    const leaks = isSeen ? about.leaks.filter((leak) => shown.includes(leak.block)) : [];
    const objected = /for each of these (\d+)/.exec(text)?.[1];
    if (objected !== undefined) return JSON.stringify({ answers: objections(Number(objected), about) });
    const blocks =
      about.isWrong && !about.leaky ? [lineLike(shown, /\.fit\(/)] : leaks.map((leak) => leak.block);
    const answers =
      blocks.length === 0
        ? [{ leakage_status: NO, code_block: lineLike(shown, /train_test_split\(|Fold|\.fit\(/) }]
        : blocks.map((one) => ({ leakage_status: YES, code_block: one }));
    return JSON.stringify({ answers });
  }

  #correction(
    { leaks, changes, script }: CostCase & { leaks: readonly Leak[] },
    block: string,
    fields: readonly string[],
  ): string {
    let corrected = block;
    for (const leak of leaks) corrected = corrected.replace(leak.block, () => leak.corrected);
    // A block of another size: the single changes that lie in it.
    if (corrected === block)
      for (const { start, end, replacement } of changes) {
        const old = script.split('\n').slice(start, end).join('\n');
        if (old !== '') corrected = corrected.replace(old, () => replacement.join('\n'));
      }
    return fields.includes('new_lines') ? asEdits(block, corrected) : `\`\`\`python\n${corrected}\n\`\`\``;
  }

  /** The script of which most lines are shown. */
  #caseOf(shown: string) {
    const votes = new Map<number, number>();
    for (const line of new Set(shown.split('\n'))) {
      const cases = this.#casesByLine.get(line) ?? [];
      for (const at of cases) votes.set(at, (votes.get(at) ?? 0) + 1 / (cases as Set<number>).size);
    }
    const [best] = [...votes].sort((a, b) => b[1] - a[1]);
    const found = this.#cases[best?.[0] ?? -1];
    if (found === undefined) throw new Error('the model was asked about a script that is not in the set');
    return found;
  }
}

function isWrongAbout(id: string): boolean {
  return createHash('sha256').update(`answer ${id}`).digest().readUInt32BE(0) / 2 ** 32 < ERROR_RATE;
}

/** Changes that are close are one leak; imports go to the first of them. */
function leaksOf({ leaky, script, changes }: CostCase): Leak[] {
  if (!leaky) return [];
  const lines = script.split('\n');
  const isImport = (line: string) => line === '' || /^(?:import|from)\s/.test(line);
  const isOfImports = ({ start, end, replacement }: ChangedLines) =>
    [...lines.slice(start, end), ...replacement].every(isImport);
  const added = changes
    .filter(isOfImports)
    .flatMap(({ replacement }) => replacement.filter((line) => line !== ''));
  const groups: ChangedLines[][] = [];
  for (const change of changes.filter((one) => !isOfImports(one))) {
    const last = groups.at(-1);
    const end = last?.at(-1)?.end ?? -Infinity;
    if (last !== undefined && change.start - end <= SAME_LEAK) last.push(change);
    else groups.push([change]);
  }
  return groups.map((group, at) => {
    const [first, last] = [group[0], group.at(-1)] as [ChangedLines, ChangedLines];
    // Lines that are only added have no place of their own.
    let start = first.end > first.start ? first.start : Math.max(0, first.start - 1);
    const end = Math.max(last.end, start + 1);
    while (start > 0 && lines.slice(start, end).every((line) => line.trim() === '')) start -= 1;
    const corrected: string[] = at === 0 ? [...added] : [];
    let next = start;
    for (const change of group) {
      corrected.push(...lines.slice(next, change.start), ...change.replacement);
      next = change.end;
    }
    corrected.push(...lines.slice(next, end));
    return { block: lines.slice(start, end).join('\n'), corrected: corrected.join('\n') };
  });
}

/** The text between the tags of a name, which end in digits that no script has. */
function tagged(text: string, name: string): string {
  return new RegExp(`<${name}-([0-9a-f]+)>\\n([\\s\\S]*?)\\n</${name}-\\1>`).exec(text)?.[2] ?? '';
}

function lineLike(script: string, pattern: RegExp): string {
  return script.split('\n').find((line) => pattern.test(line)) ?? '';
}

function objections(
  count: number,
  { leaky, isWrong }: { readonly leaky: boolean; readonly isWrong: boolean },
) {
  const status = leaky && !isWrong ? YES : NO;
  return Array.from({ length: count }, () => ({
    leakage_status: status,
    code_block: '',
    reason:
      status === YES
        ? 'The rows that are scored are among those that it learns from.'
        : 'The rows are kept separate.',
  }));
}

/** The changed lines of the block as edits, in the numbers of its lines. */
function asEdits(block: string, corrected: string): string {
  const edits = changedLines(block.split('\n'), corrected.split('\n')).map(({ start, end, replacement }) => ({
    first_line: start + 1,
    last_line: end,
    new_lines: replacement.join('\n'),
  }));
  return JSON.stringify({ edits });
}
