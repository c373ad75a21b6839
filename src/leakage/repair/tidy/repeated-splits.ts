import type { Assign, Call, Expr, For, Stmt } from '../../syntax/ast.js';
import { calleeName, namesIn, namesInExpression } from '../../syntax/walk.js';
import { plainText, statementsInBlock } from '../check/script-change.js';
import type { TextEdit } from '../context.js';
import { changesIn, isChangedBetween } from '../divisions.js';
import { tableKind } from '../rows-first/table-kind.js';
import { readSplitCall } from '../split-parts.js';
import { type Draft, hasOwnLines, itemsOf, removal } from './draft.js';

/** A split of the rewrite that an earlier line has made: its parts are taken instead. */
export function repeatedSplits(draft: Draft): TextEdit[] {
  const { after, span } = draft;
  for (const statement of statementsInBlock({ module: after, block: span })) {
    if (!isOwnSplit(draft, statement)) continue;
    const earlier = statement.suite.statements.find(
      (other): other is Assign =>
        other.type === 'assign' &&
        other.end <= statement.start &&
        readSplitCall(other) !== undefined &&
        plainText(after, other.value) === plainText(after, statement.value),
    );
    if (earlier === undefined) continue;
    const [old, now] = [namesOf(earlier), namesOf(statement)];
    const later = lastUse(draft, statement, now);
    const isSame = [...namesInExpression(statement.value)].every(
      ({ id }) => !isChangedBetween(after, earlier.end, statement.start, id),
    );
    const areUnchanged = old.every(
      (name) => name !== '_' && !isChangedBetween(after, earlier.end, later, name),
    );
    if (!isSame || !areUnchanged || old.length !== now.length) continue;
    return [removal(draft, statement), ...renamed(draft, statement, now, old)];
  }
  return [];
}

/** A split of the rewrite that the script makes again below: it is made once, under the names of the script. */
export function splitsMadeBelow(draft: Draft): TextEdit[] {
  const { after, span } = draft;
  for (const statement of statementsInBlock({ module: after, block: span })) {
    if (!isOwnSplit(draft, statement)) continue;
    const again = statement.suite.statements.find(
      (other): other is Assign =>
        other.type === 'assign' &&
        other.start >= statement.end &&
        readSplitCall(other) !== undefined &&
        plainText(after, other.value) === plainText(after, statement.value),
    );
    if (again === undefined || !hasOwnLines(after, again)) continue;
    const [now, below] = [namesOf(statement), namesOf(again)];
    const between = new Set(after.source.slice(statement.start, again.start).match(/\w+/g));
    const isSame = [...namesInExpression(statement.value)].every(
      ({ id }) => !isChangedBetween(after, statement.end, again.start, id),
    );
    const areUnchanged = now.every((name) => !isChangedBetween(after, statement.end, again.start, name));
    if (!isSame || !areUnchanged || below.some((name) => name !== '_' && between.has(name))) continue;
    const names = below.map((name, at) => (name === '_' ? (now[at] ?? name) : name));
    const [first] = statement.targets;
    if (first === undefined) continue;
    return [
      { start: first.start, end: first.end, text: names.join(', ') },
      removal(draft, again),
      ...renamed(draft, statement, now, names),
    ];
  }
  return [];
}

/** The split of the script itself, after one of the positions of its rows: its parts are the rows at these positions. */
export function splitsAtKnownRows(draft: Draft): TextEdit[] {
  const { after, span } = draft;
  for (const positions of statementsInBlock({ module: after, block: span })) {
    if (!isOwnSplit(draft, positions) || !isOfPositions(positions.value)) continue;
    const [train = '', test = ''] = namesOf(positions);
    const later = positions.suite.statements.filter(
      (other): other is Assign =>
        other.type === 'assign' && other.start >= positions.end && readSplitCall(other) !== undefined,
    );
    const [split, ...others] = later;
    if (split === undefined || others.length > 0 || !hasSameOptions(draft, positions, split)) continue;
    const lines: string[] = [];
    for (const part of readSplitCall(split)?.parts ?? []) {
      const text = after.source.slice(part.source.start, part.source.end);
      const kind = part.source.type === 'name' ? tableKind(after, part.source.id, split) : undefined;
      const at = kind === 'frame' ? '.iloc' : '';
      if (kind === undefined) return [];
      lines.push(`${part.train}, ${part.test} = ${text}${at}[${train}], ${text}${at}[${test}]`);
    }
    if (lines.length === 0 || !hasOwnLines(after, split)) continue;
    const lineStart = after.source.lastIndexOf('\n', split.start - 1) + 1;
    const indent = after.source.slice(lineStart, split.start);
    const lineEnding = after.source.includes('\r\n') ? '\r\n' : '\n';
    return [{ start: split.start, end: split.end, text: lines.join(`${lineEnding}${indent}`) }];
  }
  return [];
}

/** Positions of rows that each round of a loop would find again: they are found once, before the loop. */
export function positionsBeforeLoops(draft: Draft): TextEdit[] {
  const { after, span } = draft;
  const { source } = after;
  for (const statement of statementsInBlock({ module: after, block: span })) {
    if (!isOwnSplit(draft, statement) || !isOfPositions(statement.value)) continue;
    const { owner } = statement.suite;
    if (owner?.type !== 'for' || !hasOwnLines(after, statement) || !isSameInRounds(draft, statement, owner))
      continue;
    const indent = source.slice(source.lastIndexOf('\n', owner.start - 1) + 1, owner.start);
    if (/\S/.test(indent)) continue;
    const lineEnding = source.includes('\r\n') ? '\r\n' : '\n';
    const line = source.slice(statement.start, statement.end);
    return [
      removal(draft, statement),
      { start: owner.start, end: owner.start, text: `${line}${lineEnding}${indent}` },
    ];
  }
  return [];
}

/** Whether a loop leaves alone what a split of positions reads: columns of the table may change, its rows not. */
function isSameInRounds({ after }: Draft, { value }: Assign & { value: Call }, loop: For): boolean {
  const counted = new Set([...namesInExpression(value.args[0]?.value ?? value)].map(({ id }) => id));
  const turn = new Set([...namesInExpression(loop.target)].map(({ id }) => id));
  return [...namesInExpression(value)].every(({ id }) => {
    if (turn.has(id)) return false;
    const changes = [...changesIn(after, loop.start, loop.end, id)];
    return changes.every(({ index }) => counted.has(id) && index !== undefined);
  });
}

/** Whether the rewrite put in a split, under names that the script did not have. */
function isOwnSplit({ namesBefore }: Draft, statement: Stmt): statement is Assign & { value: Call } {
  if (statement.type !== 'assign' || readSplitCall(statement) === undefined) return false;
  return namesOf(statement).every((name) => name === '_' || !namesBefore.has(name));
}

function namesOf(statement: Assign): string[] {
  return statement.targets.flatMap(itemsOf).flatMap((target) => (target.type === 'name' ? [target.id] : []));
}

/** `train_test_split(range(len(table)), …)` */
function isOfPositions(value: Expr): value is Call {
  if (value.type !== 'call') return false;
  const rows = value.args.filter(({ name }) => name === undefined);
  const [only] = rows;
  return rows.length === 1 && only?.value.type === 'call' && calleeName(only.value) === 'range';
}

/** The proportions may be said by another column: the rewrite has checked that. */
function hasSameOptions({ after }: Draft, positions: Assign, split: Assign): boolean {
  const options = ({ value }: Assign): string =>
    value.type === 'call'
      ? value.args
          .filter(({ name }) => name !== undefined)
          .map(({ name = '', value: option }) =>
            name === 'stratify' ? name : `${name}=${plainText(after, option)}`,
          )
          .sort()
          .join()
      : '';
  return options(positions) === options(split);
}

function lastUse({ after }: Draft, statement: Assign, names: readonly string[]): number {
  let last = statement.end;
  for (const other of statement.suite.statements)
    for (const { id, end } of namesIn(other)) if (names.includes(id)) last = Math.max(last, end, other.end);
  return Math.min(last, after.source.length);
}

function renamed({ after }: Draft, made: Assign, from: readonly string[], to: readonly string[]): TextEdit[] {
  const edits: TextEdit[] = [];
  for (const outer of after.body.statements) {
    for (const { id, start, end } of namesIn(outer)) {
      const at = from.indexOf(id);
      const isMade = start >= made.start && end <= made.end;
      if (at >= 0 && !isMade) edits.push({ start, end, text: to[at] ?? id });
    }
  }
  return edits;
}
