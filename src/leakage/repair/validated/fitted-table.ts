import type { Call, Expr, Name, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, rootName } from '../../syntax/walk.js';
import type { RepairContext } from '../context.js';
import { importOf } from '../folds/imported-from.js';
import { lastAssigned } from '../rows-first/table-kind.js';

const CLONED = /^(sklearn|imblearn|category_encoders|feature_engine)\b/;

/** What may not be done once more, or gives something else then. */
const CHANGES = /\b(read_\w+|fit\w*|sample|pop|shuffle|permutation|rand\w*|choice)\(|inplace/;

/** One statement that makes a table by what is fitted on all rows. */
export interface Fit {
  /** The statement that makes the table. */
  readonly statement: Stmt;
  /** The statement that fits, if it is another one: `rfe.fit(X, y)` before `X.loc[:, rfe.support_]`. */
  readonly fitted: Stmt;
  /** Another name of what is fitted: `chosen = rfe.fit(X, y)`. */
  readonly alias?: string;
  /** Texts of what is fitted, in the order in which it is applied. */
  readonly steps: readonly string[];
  /** What the table is made from, and the labels of the fit. */
  readonly input: Expr;
  readonly labels: string | undefined;
  readonly output: string;
  /** Labels that a sampler gives beside the rows. */
  readonly outputLabels: string | undefined;
}

/** The fits that make a table one after another, the first one first; a text says why they are not known. */
export function fitsOfTable(context: RepairContext): readonly Fit[] | string {
  const last = context.leaks.toSorted((a, b) => a.statement.start - b.statement.start).at(-1);
  if (last === undefined) return 'no fit in this block';
  const found = readFit(context, last.statement, outermostFit(last.statement) ?? last.node);
  if (typeof found === 'string') return found;
  const fits: Fit[] = [found];
  for (;;) {
    const earlier = fitBefore(context, fits[0] ?? found);
    if (earlier === undefined) break;
    fits.unshift(earlier);
  }
  const made = new Set(fits.flatMap(({ statement, fitted }) => [statement, fitted]));
  if (context.leaks.some(({ statement }) => !made.has(statement)))
    return 'several fits would have to go into the cross-validation';
  const steps = fits.flatMap((fit) => fit.steps);
  return new Set(steps).size < steps.length && steps.some((step) => /^\w+$/.test(step))
    ? 'one transformer is fitted twice'
    : fits;
}

/** The leak that makes what another fit takes. */
function fitBefore(context: RepairContext, { input, fitted }: Fit): Fit | undefined {
  if (input.type !== 'name') return undefined;
  const made = fitted.suite.statements.findLast(
    (statement) => statement.end <= fitted.start && assigns(statement, input.id),
  );
  const fit = made === undefined ? undefined : outermostFit(made);
  const isLeak = context.leaks.some(({ statement }) => statement === made);
  const read = made === undefined || fit === undefined || !isLeak ? undefined : readFit(context, made, fit);
  return typeof read === 'string' ? undefined : read;
}

function assigns(statement: Stmt, name: string): boolean {
  return (
    statement.type === 'assign' &&
    statement.targets
      .flatMap((target) => (target.type === 'sequence' ? target.items : [target]))
      .some((target) => target.type === 'name' && target.id === name)
  );
}

/** `second.fit_transform(first.fit_transform(X))`, alone or in `pd.DataFrame(…)`: the fit whose table is assigned. */
function outermostFit(statement: Stmt): Call | undefined {
  if (statement.type !== 'assign' || statement.value.type !== 'call') return undefined;
  const { value } = statement;
  const inner = calleeName(value) === 'DataFrame' ? value.args[0]?.value : value;
  return inner?.type === 'call' && /^fit_(transform|resample|sample)$/.test(calleeName(inner))
    ? inner
    : undefined;
}

/** `X = pd.DataFrame(imputer.fit_transform(X), …)`, `X_s = X.loc[:, rfe.support_]`, `X_r, y_r = sampler.fit_resample(X, y)` */
function readFit(context: RepairContext, statement: Stmt, fit: Expr): Fit | string {
  const { source } = context;
  const text = ({ start, end }: Expr): string => source.slice(start, end);
  const read = readCalls(context, fit);
  if (typeof read === 'string') return read;
  const { steps, input, labels, name } = read;
  const common = { fitted: statement, steps, input, labels };
  const [target, ...others] = statement.type === 'assign' ? statement.targets : [];
  if (/^fit_(re)?sample$/.test(name)) {
    if (statement.type !== 'assign' || statement.value !== fit || target?.type !== 'sequence')
      return 'the over-sampling does not give one table of features and one of labels';
    const [x, y] = target.items;
    if (x?.type !== 'name' || y?.type !== 'name' || labels === undefined || steps.length > 1)
      return 'the over-sampled tables have no plain names';
    return { ...common, statement, output: x.id, outputLabels: y.id };
  }
  if (name === 'fit_transform') {
    if (target?.type !== 'name' || others.length > 0 || outermostFit(statement) !== fit)
      return 'the fit does not give one table';
    return { ...common, statement, output: target.id, outputLabels: undefined };
  }
  const [step] = steps;
  if (name !== 'fit' || step === undefined) return 'the fit does not give one table';
  const made = chosenColumns(source, statement, step, text(input));
  return made === undefined
    ? 'the fit does not give one table'
    : {
        ...common,
        ...(target?.type === 'name' ? { alias: target.id } : {}),
        statement: made.statement,
        output: made.output,
        outputLabels: undefined,
      };
}

/** What is fitted, one in the other, and on what. */
function readCalls(
  context: RepairContext,
  fit: Expr,
): (Pick<Fit, 'steps' | 'input' | 'labels'> & { readonly name: string }) | string {
  const { source } = context;
  const text = ({ start, end }: Expr): string => source.slice(start, end);
  const steps: string[] = [];
  const labels = new Set<string>();
  let input = fit;
  while (input.type === 'call' && input.callee.type === 'attribute' && /^fit/.test(input.callee.name)) {
    const { object } = input.callee;
    const [rows, second, ...others] = input.args;
    const isPlain = input.args.every((one) => one.star === '') && (rows?.name ?? 'X') === 'X';
    if (rows === undefined || others.length > 0 || !isPlain || (second?.name ?? 'y') !== 'y')
      return 'the fit takes more than rows and labels by their names';
    if (second !== undefined && second.value.type !== 'name') return 'the labels have no name of their own';
    if (!isCloned(context, object))
      return `whether \`${text(object)}\` can be made again for each fold is not known`;
    if (second !== undefined) labels.add(text(second.value));
    steps.unshift(text(object));
    input = rows.value;
  }
  if (fit.type !== 'call' || steps.length === 0) return 'the fit does not give one table';
  if (rootOf(input) === undefined || CHANGES.test(text(input)))
    return 'the fit takes more than rows and labels by their names';
  const [only, ...others] = labels;
  if (others.length > 0) return 'the fits take different labels';
  return { steps, input, labels: only, name: calleeName(fit) };
}

function isCloned(context: RepairContext, object: Expr): boolean {
  const made = object.type === 'name' ? lastAssigned(context.module, object.id, 0, object.start) : object;
  const path =
    (object.type === 'name' ? importOf(context, object.id) : undefined) ??
    (made?.type === 'call' ? moduleOf(context, made) : undefined);
  return CLONED.test(path ?? '');
}

/** The variable that a table is taken from: `frame.drop("label", axis=1)`, `genes.to_numpy()`. */
function rootOf(input: Expr): string | undefined {
  const root = rootName(input);
  if (root !== undefined || input.type !== 'call' || input.callee.type !== 'attribute') return root;
  return rootOf(input.callee.object);
}

/** The module that a class is imported from. */
function moduleOf({ module }: RepairContext, call: Call): string | undefined {
  const root = [...expressionsIn(call.callee)].find((part): part is Name => part.type === 'name');
  for (const statement of module.body.statements) {
    const found =
      statement.type === 'import' ? statement.bindings.find(({ name }) => name === root?.id) : undefined;
    if (found !== undefined) return found.path;
  }
  return undefined;
}

/** The later statement that takes the columns which a fitted selector chose. */
function chosenColumns(
  source: string,
  fit: Stmt,
  step: string,
  table: string,
): { readonly statement: Stmt; readonly output: string } | undefined {
  const [alias] = fit.type === 'assign' ? fit.targets : [];
  const names = [step, ...(alias?.type === 'name' ? [alias.id] : [])].filter((name) => /^\w+$/.test(name));
  const picks = names.flatMap((name) => [
    `${name}.transform(${table})`,
    ...[`${name}.support_`, `${name}.get_support()`].flatMap((chosen) => [
      `${table}.loc[:,${chosen}]`,
      `${table}[:,${chosen}]`,
      `${table}[${table}.columns[${chosen}]]`,
    ]),
  ]);
  for (const statement of fit.suite.statements) {
    if (statement.start < fit.end || statement.type !== 'assign' || statement.targets.length !== 1) continue;
    const [target] = statement.targets;
    const text = source.slice(statement.value.start, statement.value.end).replaceAll(/\s+/g, '');
    if (target?.type === 'name' && picks.includes(text)) return { statement, output: target.id };
  }
  return undefined;
}
