import { analyzeInDetail } from '../../analyze.js';
import type { Call, Expr, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, ownExpressions, statementsIn } from '../../syntax/walk.js';
import { declined, edited, freshName, onOneLine, type RepairContext, type Rewrite } from '../context.js';
import { anchorOf } from '../rows-first/learn-on-later-split.js';
import { lastAssigned } from '../rows-first/table-kind.js';
import { prepareInEachFold } from './prepare-in-each-fold.js';

/** Classes whose objects divide rows into folds. */
const SPLITTER =
  /^(Repeated)?(Stratified)?(Group)?KFold$|^TimeSeriesSplit$|^(Stratified|Group)?ShuffleSplit$/;

/**
 * `scores = cross_val_score(model, X, y, cv=folds)` after a preparation that learns from all rows: the cross-validation becomes
 * a loop over its folds, each scored by `cross_val_score` alone, and every fold makes the preparation again.
 */
export async function prepareInValidation(context: RepairContext): Promise<Rewrite> {
  const anchor = anchorOf(context);
  if (anchor === undefined) return declined('no leak in this block');
  const statements = anchor.suite.statements.slice(anchor.suite.statements.indexOf(anchor));
  const [only, ...others] = validationsIn(statements);
  if (only === undefined || others.length > 0)
    return declined('no cross-validation, or more than one, comes after the fit');
  const loop = asLoop(context, only);
  if (typeof loop === 'string') return declined(loop);
  const { source } = context;
  const { statement } = only;
  const outer = statements.find((one) => one.start <= statement.start && statement.end <= one.end);
  const analysis = await analyzeInDetail(
    source.slice(0, statement.start) + loop.text + source.slice(statement.end),
    statement.start + loop.at,
    anchor.start,
  );
  const grown = loop.text.length - (statement.end - statement.start);
  const end = Math.max(context.block.end, outer?.end ?? 0);
  const block = { start: context.block.start, end: end + grown };
  const isOfBlock = (leak: (typeof analysis.leaks)[number]): boolean =>
    leak.statement.start >= block.start && leak.statement.end <= block.end;
  const leaks = analysis.leaks.filter(isOfBlock);
  const elsewhere = analysis.leaks.filter((leak) => !isOfBlock(leak));
  if (leaks.length !== context.leaks.length)
    return declined('the folds of the cross-validation are not followed');
  const { module, watched, watchedEarlier, watchedLists, watchedFrames } = analysis;
  const seen = { watched, watchedEarlier, watchedLists, watchedFrames };
  const expanded = { ...context, ...seen, module, source: module.source, block, leaks, elsewhere };
  const prepared = await prepareInEachFold(expanded);
  if ('declined' in prepared) return prepared;
  return { text: prepared.text, block: { start: block.start, end: (prepared.block ?? block).end - grown } };
}

/** A cross-validation, and the statement that its scores are read in. */
interface Validation {
  readonly statement: Stmt;
  readonly call: Call;
}

/** The cross-validations in some statements and in the functions among them. */
function validationsIn(statements: readonly Stmt[]): Validation[] {
  return statements
    .flatMap((outer) => [...statementsIn(outer)])
    .flatMap((statement) =>
      ownExpressions(statement)
        .flatMap((own) => [...expressionsIn(own)])
        .flatMap((part) =>
          part.type === 'call' && /^cross_val/.test(calleeName(part)) ? [{ statement, call: part }] : [],
        ),
    );
}

/** The statement as a loop that scores one fold after another and then reads all scores, and where the loop begins in it. */
function asLoop(
  { source, module, lineEnding }: RepairContext,
  { statement, call }: Validation,
): { readonly text: string; readonly at: number } | string {
  const text = ({ start, end }: Expr): string => source.slice(start, end).replaceAll(/\s+/g, onOneLine);
  const indent = source.slice(source.lastIndexOf('\n', statement.start - 1) + 1, statement.start);
  if (/\S/.test(indent)) return 'the cross-validation shares its line';
  if (calleeName(call) !== 'cross_val_score') return 'the cross-validation gives more than scores';
  if (!/^(assign|expression|return)$/.test(statement.type))
    return 'the scores are read in a statement that holds others';
  const [model, rows, labels] = call.args;
  const named = call.args.slice(3);
  if (
    [model, rows, labels].some((one) => one === undefined || one.name !== undefined || one.star !== '') ||
    named.some(({ name, star }) => name === undefined || star !== '') ||
    rows === undefined ||
    labels === undefined
  )
    return 'the cross-validation takes more than rows and labels';
  const folds = named.find(({ name }) => name === 'cv')?.value;
  if (folds === undefined || named.some(({ name }) => name === 'groups' || name === 'fit_params'))
    return 'the folds of the cross-validation have no name';
  const made = folds.type === 'name' ? lastAssigned(module, folds.id, 0, statement.start) : folds;
  if (made?.type !== 'call' || !SPLITTER.test(calleeName(made)))
    return 'what divides the rows of the cross-validation is not known';
  const arrays = /^import numpy as (\w+)/m.exec(source)?.[1];
  if (arrays === undefined) return 'the scores of the folds cannot be put together';
  const [scores, fit, score] = ['fold_scores', 'fit_rows', 'score_rows'].map((wanted) =>
    freshName(source, wanted),
  );
  const one = edited(source, call, [{ start: folds.start, end: folds.end, text: `[(${fit}, ${score})]` }]);
  const inner = `${indent}${/\t/.test(indent) ? '\t' : '    '}`;
  const first = `${scores} = []${lineEnding}${indent}`;
  const lines = [
    `${first}for ${fit}, ${score} in ${text(folds)}.split(${text(rows.value)}, ${text(labels.value)}):`,
    `${inner}${scores}.append(${one.replaceAll(/\s+/g, onOneLine)}[0])`,
    `${indent}${edited(source, statement, [{ start: call.start, end: call.end, text: `${arrays}.array(${scores})` }])}`,
  ];
  return { text: lines.join(lineEnding), at: first.length };
}
