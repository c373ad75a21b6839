import type { Stmt } from '../../syntax/ast.js';
import type { OrderedEffects } from './ordered-effects.js';

/**
 * The statements that have to move where some of them do: from the beginning of the first figure that a moved statement draws
 * on, all that draw. None where no moved statement draws.
 */
export function drawnTogether(
  effects: OrderedEffects,
  statements: readonly Stmt[],
  moved: readonly Stmt[],
): ReadonlySet<Stmt> {
  const drawing = statements.filter((statement) => effects.draws(statement));
  const first = drawing.findIndex((statement) => moved.includes(statement));
  if (first < 0) return new Set();
  const drawn = drawing.map((statement) => effects.of(statement).filter(({ kind }) => kind === 'plot'));
  let from = first;
  while (from > 0 && drawn[from]?.[0]?.beginsPlot !== true && drawn[from - 1]?.at(-1)?.endsPlot !== true)
    from -= 1;
  return new Set(drawing.slice(from));
}
