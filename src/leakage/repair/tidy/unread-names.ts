import type { Assign, Expr } from '../../syntax/ast.js';
import { calleeName, expressionsIn } from '../../syntax/walk.js';
import type { TextEdit } from '../context.js';
import { readSplitCall } from '../split-parts.js';
import { allStatements, type Draft, hasOwnLines, removal } from './draft.js';

/** Calls that only make a value: nothing else notices that they are gone. */
const ONLY_MAKES =
  /^(Dataset|DMatrix|QuantileDMatrix|DeviceQuantileDMatrix|Pool|TensorDataset|DataFrame|Series|copy|drop|reset_index|to_numpy|toarray|astype|asarray|array|log|log1p|log10|exp|expm1|sqrt|abs|len|range|list|dict|tuple|set|sorted|groupby)$/;

/**
 * Names that the rewrite left without a reader: those that it made, and those whose readers it took away. A line that only
 * makes such a value goes; in a line that makes several values, the name becomes `_`.
 */
export function unreadNames(draft: Draft): TextEdit[] {
  const { after } = draft;
  for (const statement of allStatements(after)) {
    if (statement.type !== 'assign' || !hasOwnLines(after, statement)) continue;
    const [target, ...others] = statement.targets;
    if (target === undefined || others.length > 0) continue;
    const edits =
      target.type === 'name' && isUnread(draft, target.id)
        ? removedLine(draft, statement)
        : target.type === 'sequence'
          ? withoutNames(draft, statement, target.items)
          : [];
    if (edits.length > 0) return edits;
  }
  return [];
}

/** Whether nothing reads a name, and the rewrite is the reason. */
function isUnread({ namesBefore, namesAfter }: Draft, name: string): boolean {
  if (/^_+$/.test(name) || namesAfter.isRead(name)) return false;
  return !namesBefore.has(name) || namesBefore.isRead(name);
}

function removedLine(draft: Draft, statement: Assign): TextEdit[] {
  const { value } = statement;
  // What was learned may be read from the object itself.
  if (value.type === 'call' && value.callee.type === 'attribute' && value.callee.name === 'fit_transform') {
    const { end, name, object } = value.callee;
    if (object.type !== 'name' || isLearnedFurther(draft, object.id)) return [];
    return [
      { start: statement.start, end: value.start, text: '' },
      { start: end - name.length, end, text: 'fit' },
    ];
  }
  if (!onlyMakes(statement.value) || statement.suite.statements.length < 2) return [];
  return [removal(draft, statement)];
}

/** Whether an object goes on to learn: then this line is not the one that others read. */
function isLearnedFurther({ after }: Draft, name: string): boolean {
  return (
    [...after.source.matchAll(new RegExp(`(?<![\\w.])${name}\\s*\\.\\s*(fit\\w*|partial_fit)\\(`, 'g'))]
      .length > 1
  );
}

function onlyMakes(value: Expr): boolean {
  return [...expressionsIn(value)].every((part) =>
    part.type === 'call' ? ONLY_MAKES.test(calleeName(part)) : !/^(walrus|other|starred)$/.test(part.type),
  );
}

/** `fit, rest = train_test_split(…)`: both parts of a table that nobody reads go, and a single name becomes `_`. */
function withoutNames(draft: Draft, statement: Assign, targets: readonly Expr[]): TextEdit[] {
  const { namesBefore, after } = draft;
  const unread = targets.filter(
    (target) => target.type === 'name' && !namesBefore.has(target.id) && isUnread(draft, target.id),
  );
  if (unread.length === 0) return [];
  const split = readSplitCall(statement);
  const { value } = statement;
  if (split === undefined || value.type !== 'call') return [];
  const dead = new Set(unread.flatMap((target) => (target.type === 'name' ? [target.id] : [])));
  const pairs = split.parts.filter(({ train, test }) => dead.has(train) && dead.has(test));
  if (pairs.length === split.parts.length) return removedLine(draft, statement);
  if (pairs.length > 0) {
    const others = split.parts.filter((part) => !pairs.includes(part));
    const names = others.flatMap(({ train, test }) => [train, test]).join(', ');
    const sources = others.map(({ source }) => after.source.slice(source.start, source.end)).join(', ');
    const [first, last] = [targets[0], targets.at(-1)];
    const [from, to] = [split.parts[0]?.source, split.parts.at(-1)?.source];
    if (first === undefined || last === undefined || from === undefined || to === undefined) return [];
    return [
      { start: first.start, end: last.end, text: names },
      { start: from.start, end: to.end, text: sources },
    ];
  }
  return asUnderscores(draft, unread);
}

/** Some scripts read `_`. */
function asUnderscores({ namesBefore }: Draft, unread: readonly Expr[]): TextEdit[] {
  return namesBefore.isRead('_') ? [] : unread.map(({ start, end }) => ({ start, end, text: '_' }));
}
