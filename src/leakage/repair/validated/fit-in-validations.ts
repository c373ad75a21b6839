import type { Call } from '../../syntax/ast.js';
import { calleeName } from '../../syntax/walk.js';
import {
  declined,
  edited,
  freshName,
  type RepairContext,
  type Rewrite,
  type TextEdit,
  wholeLines,
} from '../context.js';
import { type Fit, fitsOfTable } from './fitted-table.js';
import { usesOf } from './uses.js';

/**
 * What is fitted on all rows before one or several cross-validations (columns that are chosen, values that are filled or
 * scaled, rows that are sampled) goes into a pipeline with the model of each, and they take the table as it was before.
 * Lines whose results are read elsewhere as well stay.
 */
export function fitInValidations(context: RepairContext): Rewrite {
  const { source, lineEnding } = context;
  const fits = fitsOfTable(context);
  if (typeof fits === 'string') return declined(fits);
  const uses = usesOf(context, fits);
  if (typeof uses === 'string') return declined(uses);
  const [first] = fits;
  if (first === undefined) return declined('no fit in this block');
  const { remaining } = uses;
  const indent = source.slice(source.lastIndexOf('\n', first.fitted.start - 1) + 1, first.fitted.start);
  if (/\S/.test(indent)) return declined('the fit shares its line');
  const sampler = fits.find(({ outputLabels }) => outputLabels !== undefined);
  const pipeline = sampler === undefined ? 'make_pipeline' : freshName(source, 'make_sampling_pipeline');
  const isImported = context.module.body.statements.some(
    (part) => part.type === 'import' && part.bindings.some(({ name }) => name === pipeline),
  );
  const importLine =
    sampler === undefined
      ? `from sklearn.pipeline import ${pipeline}`
      : `from imblearn.pipeline import make_pipeline as ${pipeline}`;
  // Other lines go on with what the fits gave: what they took keeps a name of its own.
  const beforeFit = (name: string, made: (fit: Fit) => string | undefined): string =>
    remaining.some((fit) => made(fit) === name) ? freshName(source, `${name}_before`) : name;
  const inputText = source.slice(first.input.start, first.input.end);
  const rows = beforeFit(inputText, ({ output }) => output);
  const labels = sampler?.labels;
  const labelsBefore =
    labels === undefined ? undefined : beforeFit(labels, ({ outputLabels }) => outputLabels);
  const before = [
    ...(isImported ? [] : [importLine]),
    ...(rows === inputText ? [] : [`${rows} = ${inputText}`]),
    ...(labelsBefore === labels ? [] : [`${labelsBefore} = ${labels}`]),
  ].map((line) => `${line}${lineEnding}${indent}`);
  const edits: TextEdit[] = fits
    .filter((fit) => !remaining.includes(fit))
    .flatMap(({ statement, fitted }) => [...new Set([statement, fitted])])
    .map((statement) => ({ ...wholeLines(source, statement), text: '' }));
  const anchor = remaining[0]?.fitted ?? uses.statements.toSorted((a, b) => a.start - b.start)[0];
  if (anchor === undefined) return declined('no cross-validation takes the fitted table as it is');
  const validations: TextEdit[] = [];
  for (const call of uses.validations) {
    const found = validated(source, call, { pipeline, fits, rows, labels: labelsBefore });
    if (typeof found === 'string') return declined(found);
    validations.push(...found);
  }
  edits.push({ start: anchor.start, end: anchor.start, text: before.join('') }, ...validations);
  const all = [...fits.flatMap(({ statement, fitted }) => [statement, fitted]), ...uses.statements];
  const from = Math.min(context.block.start, ...all.map(({ start }) => start));
  const to = Math.max(context.block.end, ...all.map(({ end }) => end));
  const block = { start: source.lastIndexOf('\n', from - 1) + 1, end: to };
  return { text: edited(source, block, edits), block };
}

interface Pipelined {
  /** What makes a pipeline. */
  readonly pipeline: string;
  readonly fits: readonly Fit[];
  /** The table and the labels before the fits. */
  readonly rows: string;
  readonly labels: string | undefined;
}

/** A cross-validation of a pipeline. Steps before a pipeline that is written out go into it. */
function validated(
  source: string,
  { args: [model, table, third] }: Call,
  { pipeline, fits, rows, labels }: Pipelined,
): TextEdit[] | string {
  if (model === undefined || table === undefined) return 'a cross-validation has no model';
  const text = source.slice(model.value.start, model.value.end);
  if (/\b(ColumnTransformer|make_column_transformer)\b/.test(text))
    return 'the model picks columns by their names';
  const steps = fits.flatMap((fit) => fit.steps);
  const inner = model.value.type === 'call' && calleeName(model.value) === pipeline ? model.value.args : [];
  const isOpen = inner.length > 0 && inner.every(({ name, star }) => name === undefined && star === '');
  const last = isOpen ? source.slice(inner[0]?.value.start, model.value.end - 1) : text;
  const edits = [
    { ...spanOf(model.value), text: `${pipeline}(${[...steps, last].join(', ')})` },
    { ...spanOf(table.value), text: rows },
  ];
  if (labels !== undefined && third !== undefined) edits.push({ ...spanOf(third.value), text: labels });
  return edits;
}

function spanOf({ start, end }: { readonly start: number; readonly end: number }) {
  return { start, end };
}
