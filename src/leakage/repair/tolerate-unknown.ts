import type { Module, Stmt } from '../syntax/ast.js';
import { parseModule } from '../syntax/parse-module.js';
import { namesIn } from '../syntax/walk.js';
import { statementsInBlock } from './check/script-change.js';
import { strictEncoders } from './check/unknown-categories.js';
import { openLookups } from './check/unknown-groups.js';
import { edited, type RepairContext, type TextEdit } from './context.js';

/**
 * The rewritten text of a block, made to go on at categories and groups that only the scored rows have. Encoders are
 * told so in the call that makes them, or right before they are fitted where that call is above the block; values
 * looked up by group get the mean of the groups, or a count of zero.
 */
export async function tolerateUnknown(context: RepairContext, text: string): Promise<string> {
  const { source, block } = context;
  const after = await parseModule(source.slice(0, block.start) + text + source.slice(block.end));
  return context.work.run(() => tolerant(context, text, after));
}

function tolerant(context: RepairContext, text: string, after: Module): string {
  const { module, block, leaks } = context;
  const span = { start: block.start, end: block.start + text.length };
  const version = { module: after, block: span };
  const change = { leaks, before: { module, block }, after: version };
  const edits: TextEdit[] = [];
  for (const { lookup, fallback } of openLookups(change)) {
    if (fallback !== undefined) edits.push({ start: lookup.end, end: lookup.end, text: fallback });
  }
  for (const { variable, constructed, isStep, tolerant } of strictEncoders(change)) {
    if (tolerant === undefined) continue;
    const told = Object.entries(tolerant).map(([name, value]) => `${name}=${value}`);
    if (constructed.start >= span.start && constructed.end <= span.end) {
      const last = constructed.args.at(-1)?.value.end ?? constructed.end - 1;
      const separator = constructed.args.length === 0 ? '' : ', ';
      edits.push({ start: last, end: last, text: separator + told.join(', ') });
    } else if (!isStep) {
      const first = [...statementsInBlock(version)].find((statement) => mentions(statement, variable));
      const indent = first === undefined ? undefined : indentBefore(after, first);
      if (first === undefined || indent === undefined) continue;
      const line = `${variable}.set_params(${told.join(', ')})${context.lineEnding}${indent}`;
      edits.push({ start: first.start, end: first.start, text: line });
    }
  }
  return edits.length === 0 ? text : edited(after.source, span, edits);
}

function mentions(statement: Stmt, variable: string): boolean {
  return [...namesIn(statement)].some(({ id }) => id === variable);
}

/** White space before a statement; nothing where it shares its line. */
function indentBefore(module: Module, { start }: Stmt): string | undefined {
  const indent = module.source.slice(module.source.lastIndexOf('\n', start - 1) + 1, start);
  return /\S/.test(indent) ? undefined : indent;
}
