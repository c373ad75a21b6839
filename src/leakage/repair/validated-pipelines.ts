import type { Call, Expr, Name, Stmt } from '../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  namesInExpression,
  ownExpressions,
  partsOf,
  statementsIn,
} from '../syntax/walk.js';
import {
  declined,
  edited,
  freshName,
  type RepairContext,
  type Rewrite,
  type TextEdit,
  wholeLines,
} from './context.js';
import { isChangedBetween } from './divisions.js';
import { importOf } from './folds/imported-from.js';

const VALIDATES = /^(cross_val_score|cross_validate|cross_val_predict)$/;
const CLONED = /^(sklearn|imblearn|category_encoders|feature_engine)\b/;

/** A table that is made by something fitted on all rows, and that only cross-validations take. */
interface FittedTable {
  /** The statement that makes the table. */
  readonly statement: Stmt;
  /** Text of what is fitted. */
  readonly step: string;
  /** What the table is made from, and the labels of the fit. */
  readonly input: Expr;
  readonly labels: string | undefined;
  readonly output: string;
  /** Labels that a sampler gives beside the rows. */
  readonly outputLabels: string | undefined;
}

/**
 * Columns that are chosen, values that are filled and rows that are sampled before one or several cross-validations: what does
 * it goes into a pipeline with the model of each, and the cross-validations take the table as it was before.
 */
export function fitInValidations(context: RepairContext): Rewrite {
  const { source, leaks, lineEnding } = context;
  const [leak] = leaks;
  if (leak === undefined || leaks.some(({ node }) => node !== leak.node))
    return declined('several fits would have to go into the cross-validation');
  const table = fittedTable(context, leak.statement, leak.node);
  if (typeof table === 'string') return declined(table);
  const { statement, input, output } = table;
  const indent = source.slice(source.lastIndexOf('\n', statement.start - 1) + 1, statement.start);
  if (/\S/.test(indent)) return declined('the fit shares its line');
  const uses = usesOf(context, table);
  if (typeof uses === 'string') return declined(uses);
  const isSampler = table.outputLabels !== undefined;
  const pipeline = isSampler ? freshName(source, 'make_sampling_pipeline') : 'make_pipeline';
  const isImported = context.module.body.statements.some(
    (part) => part.type === 'import' && part.bindings.some(({ name }) => name === pipeline),
  );
  const line = isSampler
    ? `from imblearn.pipeline import make_pipeline as ${pipeline}`
    : `from sklearn.pipeline import ${pipeline}`;
  const edits: TextEdit[] = [];
  const beforeFit = (name: string, made: string | undefined): string =>
    name === made && !uses.isOnlyValidated ? freshName(source, `${name}_before`) : name;
  // Other lines go on with what the fit gave: what it took keeps a name of its own.
  const inputText = source.slice(input.start, input.end);
  const rowsBefore = beforeFit(inputText, output);
  const labelsBefore = table.labels === undefined ? undefined : beforeFit(table.labels, table.outputLabels);
  const copies = [
    ...(rowsBefore === inputText ? [] : [`${rowsBefore} = ${inputText}`]),
    ...(labelsBefore === table.labels ? [] : [`${labelsBefore} = ${table.labels}`]),
  ];
  const before = [...(isImported ? [] : [line]), ...copies];
  if (!uses.isOnlyValidated)
    edits.push({
      start: statement.start,
      end: statement.start,
      text: before.map((one) => `${one}${lineEnding}${indent}`).join(''),
    });
  else if (before.length === 0) edits.push({ ...wholeLines(source, statement), text: '' });
  else
    edits.push({
      start: statement.start,
      end: statement.end,
      text: before.join(`${lineEnding}${indent}`),
    });
  for (const call of uses.validations) {
    const [model, rows, labels] = call.args;
    if (model === undefined || rows === undefined) return declined('a cross-validation has no model');
    const text = source.slice(model.value.start, model.value.end);
    if (/\b(ColumnTransformer|make_column_transformer)\b/.test(text))
      return declined('the model picks columns by their names');
    edits.push(
      { start: model.value.start, end: model.value.end, text: `${pipeline}(${table.step}, ${text})` },
      { start: rows.value.start, end: rows.value.end, text: rowsBefore },
    );
    if (isSampler && labels !== undefined && labelsBefore !== undefined)
      edits.push({ start: labels.value.start, end: labels.value.end, text: labelsBefore });
  }
  const [from, to] = [
    Math.min(context.block.start, ...uses.statements.map(({ start }) => start), statement.start),
    Math.max(context.block.end, ...uses.statements.map(({ end }) => end)),
  ];
  const block = { start: source.lastIndexOf('\n', from - 1) + 1, end: to };
  return { text: edited(source, block, edits), block };
}

/** `X = pd.DataFrame(imputer.fit_transform(X), …)`, `X_s = X.loc[:, rfe.support_]`, `X_r, y_r = sampler.fit_resample(X, y)` */
function fittedTable(context: RepairContext, statement: Stmt, fit: Expr): FittedTable | string {
  const { source } = context;
  const text = ({ start, end }: Expr): string => source.slice(start, end);
  if (fit.type !== 'call' || fit.callee.type !== 'attribute') return 'the fit does not give one table';
  const { object, name } = fit.callee;
  const [rows, labels, ...others] = fit.args;
  if (
    rows === undefined ||
    !/^(name|subscript|attribute)$/.test(rows.value.type) ||
    others.length > 0 ||
    fit.args.some((one) => one.star !== '' || (one.name ?? 'X') !== 'X')
  )
    return 'the fit takes more than rows and labels by their names';
  if (labels !== undefined && labels.value.type !== 'name') return 'the labels have no name of their own';
  const isCloned =
    object.type === 'name'
      ? CLONED.test(importOf(context, object.id) ?? '')
      : object.type === 'call' && CLONED.test(moduleOf(context, object) ?? '');
  if (!isCloned) return `whether \`${text(object)}\` can be made again for each fold is not known`;
  const common = {
    step: text(object),
    input: rows.value,
    labels: labels === undefined ? undefined : text(labels.value),
  };
  if (/^fit_(re)?sample$/.test(name)) {
    const [pair] = statement.type === 'assign' ? statement.targets : [];
    if (statement.type !== 'assign' || statement.value !== fit || pair?.type !== 'sequence')
      return 'the over-sampling does not give one table of features and one of labels';
    const [x, y] = pair.items;
    if (x?.type !== 'name' || y?.type !== 'name' || common.labels === undefined)
      return 'the over-sampled tables have no plain names';
    return { ...common, statement, output: x.id, outputLabels: y.id };
  }
  if (name === 'fit_transform') {
    const [target] = statement.type === 'assign' ? statement.targets : [];
    if (statement.type !== 'assign' || target?.type !== 'name') return 'the fit does not give one table';
    const isFrame =
      statement.value.type === 'call' &&
      calleeName(statement.value) === 'DataFrame' &&
      statement.value.args[0]?.value === fit;
    if (!isFrame && statement.value !== fit) return 'the fit does not give one table';
    return { ...common, statement, output: target.id, outputLabels: undefined };
  }
  if (name !== 'fit') return 'the fit does not give one table';
  return chosenColumns(context, statement, common);
}

/** The later statement that takes the columns which a fitted selector chose. */
function chosenColumns(
  { source }: RepairContext,
  fit: Stmt,
  common: Pick<FittedTable, 'step' | 'input' | 'labels'>,
): FittedTable | string {
  const [alias] = fit.type === 'assign' ? fit.targets : [];
  const names = [common.step, ...(alias?.type === 'name' ? [alias.id] : [])].filter((name) =>
    /^\w+$/.test(name),
  );
  const table = source.slice(common.input.start, common.input.end);
  const picks = names.flatMap((name) =>
    [`${name}.support_`, `${name}.get_support()`].flatMap((chosen) => [
      `${table}.loc[:,${chosen}]`,
      `${table}[:,${chosen}]`,
      `${table}[${table}.columns[${chosen}]]`,
    ]),
  );
  picks.push(...names.map((name) => `${name}.transform(${table})`));
  for (const other of fit.suite.statements) {
    if (other.start < fit.end || other.type !== 'assign' || other.targets.length !== 1) continue;
    const [target] = other.targets;
    const text = source.slice(other.value.start, other.value.end).replaceAll(/\s+/g, '');
    if (target?.type === 'name' && picks.includes(text))
      return { ...common, statement: other, output: target.id, outputLabels: undefined };
  }
  return 'the fit does not give one table';
}

interface Uses {
  readonly validations: readonly Call[];
  readonly statements: readonly Stmt[];
  /** No other line reads the table. */
  readonly isOnlyValidated: boolean;
}

/** The cross-validations that take the table; a text says how else it is used. */
function usesOf(context: RepairContext, table: FittedTable): Uses | string {
  const { module } = context;
  const { statement, input, output, outputLabels } = table;
  const validations = new Set<Call>();
  const statements = new Set<Stmt>();
  let others = 0;
  const isFit = (part: Stmt): boolean => part.end <= statement.end && part.start >= context.block.start;
  for (const outer of module.body.statements) {
    for (const inner of statementsIn(outer)) {
      // A function is called after the fit, wherever it is defined.
      const isLater = inner.start > statement.start || isInFunction(inner, statement);
      if (!isLater || inner === statement || isFit(inner)) continue;
      for (const { name, parents } of namesWithParents(inner)) {
        // What is learned on all rows is read by another line, as the names of the columns that a selector chose.
        if (name.id === table.step) others += 1;
        if (name.id !== output && name.id !== outputLabels) continue;
        const [call] = parents;
        const isRows =
          call?.type === 'call' &&
          VALIDATES.test(calleeName(call)) &&
          call.args[name.id === output ? 1 : 2]?.value === name &&
          call.args[name.id === output ? 1 : 2]?.name === undefined;
        if (call?.type === 'call' && isRows) {
          const problem = whyNotValidated(context, table, call);
          if (problem !== undefined) return problem;
          validations.add(call);
          statements.add(outermost(inner, statement));
          continue;
        }
        others += 1;
      }
    }
  }
  if (validations.size === 0) return 'no cross-validation takes the fitted table as it is';
  const end = Math.max(...[...validations].map((call) => call.end));
  const names = [
    ...[...namesInExpression(input)].map(({ id }) => id),
    ...(table.labels === undefined ? [] : [table.labels]),
  ];
  const fit = context.leaks[0]?.statement ?? statement;
  const made = [output, ...(outputLabels === undefined ? [] : [outputLabels])];
  const changed =
    names.find((name) => !made.includes(name) && isChangedBetween(module, fit.end, end, name)) ??
    made.find((name) => isChangedBetween(module, statement.end, end, name));
  if (changed !== undefined) return `\`${changed}\` is changed before the cross-validation`;
  return { validations: [...validations], statements: [...statements], isOnlyValidated: others === 0 };
}

function whyNotValidated({ source }: RepairContext, table: FittedTable, call: Call): string | undefined {
  const [model, , labels] = call.args;
  if (table.outputLabels !== undefined && calleeName(call) === 'cross_val_predict')
    return 'the cross-validation gives a prediction for each row that was sampled';
  if (model?.name !== undefined || labels === undefined || labels.name !== undefined)
    return 'the cross-validation names its model or its labels';
  if (call.args.some(({ name, star }) => star !== '' || name === 'fit_params' || name === 'params'))
    return 'the cross-validation passes more to the model';
  const text = source.slice(labels.value.start, labels.value.end);
  const wanted = table.outputLabels ?? table.labels;
  return wanted !== undefined && text !== wanted
    ? 'the fit and the cross-validation take other labels'
    : undefined;
}

/** The statement beside the fit, or at the top of the script, that holds another one. */
function outermost(statement: Stmt, beside: Stmt): Stmt {
  let outer = statement;
  while (outer.suite !== beside.suite && outer.suite.owner !== undefined) outer = outer.suite.owner;
  return outer;
}

function isInFunction(statement: Stmt, beside: Stmt): boolean {
  for (let owner = statement.suite.owner; owner !== undefined; owner = owner.suite.owner)
    if (owner.type === 'function') return !(owner.start <= beside.start && beside.end <= owner.end);
  return false;
}

function namesWithParents(statement: Stmt): { name: Name; parents: readonly Expr[] }[] {
  const found: { name: Name; parents: readonly Expr[] }[] = [];
  const visit = (part: Expr, parents: readonly Expr[]): void => {
    if (part.type === 'name') found.push({ name: part, parents });
    for (const inner of partsOf(part)) visit(inner, [part]);
  };
  for (const own of ownExpressions(statement)) visit(own, []);
  return found;
}

/** The module that a class is imported from. */
function moduleOf({ module }: RepairContext, call: Call): string | undefined {
  const [root] = [...expressionsIn(call.callee)].filter((part): part is Name => part.type === 'name');
  for (const statement of module.body.statements) {
    const found =
      statement.type === 'import' ? statement.bindings.find(({ name }) => name === root?.id) : undefined;
    if (found !== undefined) return found.path;
  }
  return undefined;
}
