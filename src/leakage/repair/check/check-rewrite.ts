import { neutralizeMagics } from '../../../solution/notebook-magics.js';
import { firstSyntaxError } from '../../../solution/syntax-error.js';
import { analyzeInDetail, type DetailedAnalysis } from '../../analyze.js';
import type { Expr } from '../../syntax/ast.js';
import { expressionsIn, ownExpressions, statementsIn } from '../../syntax/walk.js';
import type { RepairContext } from '../context.js';
import { lastAssigned } from '../rows-first/table-kind.js';
import { drawnBesideAll } from './drawn-together.js';
import { otherEffects } from './effects-in-order.js';
import { learnedOfScored } from './learned-of-scored.js';
import { columnsListedBefore } from './listed-columns.js';
import { arrayAsFrame, foundPositions, shortened, stalePositions } from './moved-rows.js';
import { overwritten, partsDiffer, repeated } from './parts-alike.js';
import { readBeforeChange } from './read-before-change.js';
import { recordedScoreRead } from './recorded-scores.js';
import { besideAllRows } from './rows-together.js';
import { otherExperiment } from './same-experiment.js';
import { changesIn, newStatements, partPairs, type ScriptChange } from './script-change.js';
import { statisticTakenAgain } from './statistic-again.js';
import { mixedRows, otherFits, otherSteps } from './steps/same-steps.js';
import { otherShapeShown } from './steps/shown-shapes.js';
import { leavesGroupsOut, rejectsCategories } from './unknown-values.js';

/** What a rewrite must not do, each with the reason where it does; none of them asks which strategy wrote it. */
const DAMAGES: readonly ((change: ScriptChange) => string | undefined)[] = [
  overwritten,
  partsDiffer,
  drawnBesideAll,
  repeated,
  stalePositions,
  foundPositions,
  arrayAsFrame,
  shortened,
  rejectsCategories,
  leavesGroupsOut,
  columnNotDivided,
  columnsListedBefore,
  readBeforeChange,
  statisticTakenAgain,
  recordedScoreRead,
  learnedOfScored,
  otherEffects,
  mixedRows,
  otherFits,
  otherSteps,
  otherShapeShown,
  otherExperiment,
];

/**
 * Why a rewrite is not good enough; nothing where the whole script parses, indentation included, its leaks are
 * gone, and it treats rows, parts and names as it did before.
 */
export async function checkRewrite(
  context: Pick<RepairContext, 'source' | 'block' | 'leaks' | 'work' | 'watched'>,
  before: DetailedAnalysis,
  text: string,
): Promise<string | undefined> {
  const { source, block, leaks, work, watched } = context;
  if (text.trim() === '' || text === source.slice(block.start, block.end))
    return 'the rewrite changes nothing';
  const rewritten = source.slice(0, block.start) + text + source.slice(block.end);
  const after = await analyzeInDetail(rewritten);
  if (before.parsed && !after.parsed) return 'the rewritten script would not parse';
  if (!(await isPython(rewritten)) && (await isPython(source)))
    return 'the rewritten script would not be Python';
  const unknown = [...after.unresolved].find((name) => !before.unresolved.has(name));
  if (unknown !== undefined) return `\`${unknown}\` would not be defined`;
  const column = [...after.missingColumns].find((name) => !before.missingColumns.has(name));
  if (column !== undefined) return `column \`${column}\` would not be there any more`;
  if (before.scores > 0 && after.scores === 0) return 'the rewritten script would score no predictions';
  const end = block.start + text.length;
  const change: ScriptChange = {
    leaks,
    before: { module: before.module, block },
    after: { module: after.module, block: { start: block.start, end } },
  };
  const damages = [...DAMAGES, () => besideAllRows(change, watched)];
  for (const damage of damages) {
    const found = work.run(() => damage(change));
    if (found !== undefined) return found;
  }
  const remaining = after.leaks.filter(
    ({ statement }) => statement.start >= block.start && statement.start < end,
  );
  // Lines that are replaced beside those of the leak may hold another one.
  const others = before.leaks.filter(
    ({ statement, node }) =>
      statement.start >= block.start &&
      statement.end <= block.end &&
      leaks.every((leak) => leak.node !== node),
  );
  if (remaining.length > others.length)
    return `the rewritten block would still leak (${remaining[0]?.kind ?? ''})`;
  if (after.leaks.length > before.leaks.length - leaks.length)
    return 'the rewritten script would leak elsewhere';
  return undefined;
}

async function isPython(source: string): Promise<boolean> {
  return (
    (await firstSyntaxError(source)) === null || (await firstSyntaxError(neutralizeMagics(source))) === null
  );
}

/**
 * Whether a rewrite reads a column of a part that the split does not give it: `frame[["a", "b"]]` is divided, and a
 * statistic of `frame["c"]` moved after the split.
 */
function columnNotDivided(change: ScriptChange): string | undefined {
  const { module } = change.after;
  const added = newStatements(change);
  for (const { source, train, test } of partPairs(change)) {
    const divided = source.type === 'name' ? lastAssigned(module, source.id, 0, source.start) : source;
    const index = divided?.type === 'subscript' ? divided.indices[0] : undefined;
    if (index?.type !== 'sequence') continue;
    const columns = new Set(textsOf(index));
    if (columns.size !== index.items.length) continue;
    for (const statement of added) {
      for (const name of [train, test]) {
        const missing = ownExpressions(statement)
          .flatMap((own) => [...expressionsIn(own)])
          .flatMap((part) => columnsRead(part, name))
          .find((column) => !columns.has(column));
        if (missing !== undefined) {
          const whole = source.type === 'name' ? source.id : name;
          const isMade = [...added, ...module.body.statements.flatMap((one) => [...statementsIn(one)])].some(
            (other) =>
              changesIn(module, other).some(
                (made) => (made.name === name || made.name === whole) && made.what === `"${missing}"`,
              ),
          );
          if (!isMade) return `column \`${missing}\` is not among those that are divided into \`${name}\``;
        }
      }
    }
  }
  return undefined;
}

/** `part["a"]`, `part[["a", "b"]]`, `part.groupby("a")["b"]` */
function columnsRead(part: Expr, name: string): string[] {
  if (part.type === 'call' && part.callee.type === 'attribute' && part.callee.name === 'groupby')
    return isPart(part.callee.object, name) ? textsOf(part.args[0]?.value) : [];
  if (part.type !== 'subscript') return [];
  const { object } = part;
  const grouped =
    object.type === 'call' && object.callee.type === 'attribute' && object.callee.name === 'groupby'
      ? object.callee.object
      : object;
  return isPart(grouped, name) ? textsOf(part.indices[0]) : [];
}

function isPart(expression: Expr, name: string): boolean {
  return expression.type === 'name' && expression.id === name;
}

function textsOf(expression: Expr | undefined): string[] {
  if (expression?.type === 'sequence') return expression.items.flatMap(textsOf);
  return expression?.type === 'constant' && typeof expression.value === 'string' ? [expression.value] : [];
}
