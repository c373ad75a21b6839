import type { Argument } from '../../syntax/ast.js';
import { expressionsIn, ownExpressions, rootName } from '../../syntax/walk.js';
import { newStatements, partPairs, type ScriptChange } from './script-change.js';

/** Calls whose arguments have a value for each point. */
const DRAWS =
  /^(plt|sns|ax\w*|axes|px|fig)\b|\.(scatter|scatterplot|lineplot|plot|bar|barh|hist|kdeplot|boxplot)$/;
/** What gives the rows of a table as an array. */
const WHOLE = /^(values|index|to_numpy|tolist)$/;

/** Options that take a value for each point. */
const FOR_EACH_POINT = /^(c|hue|size|style|weights)$/;

/**
 * Whether a figure would get the rows of a part together with those of a whole table: `scatter(X_train[:, 0], X_train[:, 1],
 * hue=labels.values)`.
 */
export function drawnBesideAll(change: ScriptChange): string | undefined {
  const parts = new Set(partPairs(change).flatMap(({ train, test }) => [train, test]));
  const { source } = change.after.module;
  for (const statement of newStatements(change)) {
    for (const own of ownExpressions(statement)) {
      for (const call of expressionsIn(own)) {
        if (call.type !== 'call' || !DRAWS.test(source.slice(call.callee.start, call.callee.end))) continue;
        const isOfPart = ({ value }: Argument): boolean => parts.has(rootName(value) ?? '');
        const other = call.args.find((argument) => isWhole(argument) && !isOfPart(argument));
        if (other !== undefined && call.args.some(isOfPart))
          return `\`${source.slice(other.value.start, other.value.end)}\` has all rows, beside those of one part in a figure`;
      }
    }
  }
  return undefined;
}

function isWhole({ name, value }: Argument): boolean {
  const part = value.type === 'call' ? value.callee : value;
  if (part.type === 'attribute') return WHOLE.test(part.name);
  return FOR_EACH_POINT.test(name ?? '') && (value.type === 'subscript' || value.type === 'name');
}
