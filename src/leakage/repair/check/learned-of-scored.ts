import { STATISTIC_METHODS } from '../../library-models/methods.js';
import type { Call } from '../../syntax/ast.js';
import { expressionsIn, rootName } from '../../syntax/walk.js';
import { newStatements, partPairs, type ScriptChange, textOf } from './script-change.js';
import { isAcrossColumns, NUMPY_STATISTIC } from './steps/step-words.js';

/** What goes along rows, or gives a value for each row. */
const FOR_EACH_ROW = /\.(str|dt|rolling|expanding|ewm|cat|list)\b/;

/**
 * Whether a rewrite computes over the scored part what was computed over all rows: `np.min(X_test)`, which then is another
 * number than that of the training part.
 */
export function learnedOfScored(change: ScriptChange): string | undefined {
  const { module } = change.after;
  const scored = new Set(partPairs(change).map(({ test }) => test));
  for (const statement of newStatements(change)) {
    if (statement.type !== 'assign' && statement.type !== 'augmented') continue;
    for (const part of expressionsIn(statement.value)) {
      if (part.type !== 'call' || isAcrossColumns(part)) continue;
      const table = tableOfStatistic(part);
      const text = textOf(module, part);
      if (table !== undefined && scored.has(table) && !FOR_EACH_ROW.test(text))
        return `\`${text}\` would be computed over the scored rows`;
    }
  }
  return undefined;
}

/** The variable over whose rows a statistic is computed. */
function tableOfStatistic({ callee, args }: Call): string | undefined {
  if (callee.type !== 'attribute') return undefined;
  const { object, name } = callee;
  const [first] = args;
  if (object.type === 'name' && /^(np|numpy)$/.test(object.id))
    return NUMPY_STATISTIC.test(name) && first !== undefined ? rootName(first.value) : undefined;
  return STATISTIC_METHODS.has(name) ? rootName(object) : undefined;
}
