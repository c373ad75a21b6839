import type { Module, Stmt } from '../syntax/ast.js';
import { parseModule } from '../syntax/parse-module.js';
import { namesIn } from '../syntax/walk.js';
import { statementsInBlock } from './check/script-change.js';
import { strictEncoders } from './check/unknown-categories.js';
import { edited, type RepairContext, type TextEdit } from './context.js';

/**
 * The rewritten text of a block with its encoders told to go on at categories that only the scored rows have: in the
 * call that makes the encoder, or right before it is fitted where that call stands above the block.
 */
export async function tolerateCategories(context: RepairContext, text: string): Promise<string> {
  const { source, module, block, leaks } = context;
  const after = await parseModule(source.slice(0, block.start) + text + source.slice(block.end));
  const span = { start: block.start, end: block.start + text.length };
  const version = { module: after, block: span };
  const encoders = strictEncoders({ leaks, before: { module, block }, after: version });
  const edits: TextEdit[] = [];
  for (const { variable, constructed, isStep, tolerant } of encoders) {
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
