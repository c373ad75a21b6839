import type { Leak } from '../findings/find-leaks.js';
import type { Expr } from '../syntax/ast.js';
import { rootName } from '../syntax/walk.js';
import { isCut } from '../values/region.js';
import type { RepairContext } from './context.js';
import { type Division, divisionsBefore, isChangedBetween } from './divisions.js';

/**
 * Options for a part that is held out of training rows, as the division that made those rows has them: its seed, and the labels
 * that decide the proportions, as far as they are there for the training rows.
 * @param tables texts of the features and labels that are divided
 */
export function heldOutOptions(context: RepairContext, leak: Leak, tables: readonly string[]): string {
  if (isInOrder(leak)) return 'shuffle=False';
  const divisions = divisionsBefore(context, leak);
  const made = divisions.find(({ train }) => tables.some((table) => names(table, train)));
  const call = made?.statement.type === 'assign' ? made.statement.value : undefined;
  if (made === undefined || call?.type !== 'call') return 'random_state=0';
  const option = (name: string): Expr | undefined =>
    call.args.find((argument) => argument.name === name)?.value;
  const seed = option('random_state');
  const isCopied = seed?.type === 'name' || (seed?.type === 'constant' && typeof seed.value === 'number');
  const parts = divisions.filter(({ statement }) => statement === made.statement);
  const labels = labelsOfTraining(context, leak, option('stratify'), parts, tables);
  return [
    `random_state=${isCopied ? context.source.slice(seed.start, seed.end) : '0'}`,
    ...(labels === undefined ? [] : [`stratify=${labels}`]),
  ].join(', ');
}

/** Whether the training rows come before the scored ones, as in a series: then the last of them are held out. */
export function isInOrder({ split }: Leak): boolean {
  if (split === undefined) return false;
  const { partition } = split;
  return isCut(partition) || (partition.form === 'holdout' && partition.random === false);
}

/** The labels that decide the proportions, of the training rows alone. */
function labelsOfTraining(
  { source, module }: RepairContext,
  leak: Leak,
  labels: Expr | undefined,
  parts: readonly Division[],
  tables: readonly string[],
): string | undefined {
  const root = labels === undefined ? undefined : rootName(labels);
  if (labels === undefined || root === undefined) return undefined;
  const text = source.slice(labels.start, labels.end);
  for (const { source: whole, train, statement } of parts) {
    const isWhole = source.slice(whole.start, whole.end) === text;
    const isPart = whole.type === 'name' && whole.id === root;
    if (!isWhole && !isPart) continue;
    const isThere = tables.some((table) => names(table, train));
    if (!isThere || isChangedBetween(module, statement.end, leak.statement.start, train)) continue;
    return isWhole ? train : train + text.slice(root.length);
  }
  return undefined;
}

function names(text: string, variable: string): boolean {
  return [...text.matchAll(/(?<![\w.])[A-Za-z_]\w*/g)].some(([name]) => name === variable);
}
