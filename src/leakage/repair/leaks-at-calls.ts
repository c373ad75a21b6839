import { ownBlock } from '../findings/block.js';
import type { Leak } from '../findings/find-leaks.js';
import type { Call, Span, Stmt } from '../syntax/ast.js';
import { expressionsIn, ownExpressions } from '../syntax/walk.js';
import type { RepairContext } from './context.js';
import { calleeName } from './rows-first/row-order.js';
import { functionAround } from './rows-first/table-kind.js';

/** Where a leak is mended. */
export type Lift = (leak: Leak) => Leak;

export const asTheyAre: Lift = (leak) => leak;

/**
 * Leaks of a block in helper functions, as leaks of the statements that call these: a helper may be right as it is, and
 * get the wrong rows. Nothing if no helper is called beside the division of the rows.
 */
export function atTheirCalls(
  source: string,
  { leaks }: RepairContext,
): { readonly block: Span; readonly lift: Lift } | undefined {
  const [first] = leaks;
  if (first === undefined) return undefined;
  const lifted = atCall(first);
  if (lifted === first) return undefined;
  return { block: ownBlock(source, lifted), lift: atCall };
}

function atCall(leak: Leak): Leak {
  const { calledBy } = leak;
  const call = calledBy === undefined ? undefined : callIn(calledBy, leak);
  if (calledBy === undefined || call === undefined) return leak;
  return { ...leak, statement: calledBy, node: call, nodes: [call] };
}

/** The call of the function that a leak is in, or the only call of a statement that may lead there. */
function callIn(statement: Stmt, leak: Leak): Call | undefined {
  const calls = ownExpressions(statement)
    .flatMap((own) => [...expressionsIn(own)])
    .filter((part): part is Call => part.type === 'call');
  const around = functionAround(leak.statement);
  const name = around?.type === 'function' ? around.name : undefined;
  const direct = calls.filter((call) => calleeName(call) === name);
  const [only, ...others] = direct.length > 0 ? direct : calls.filter((call) => call.args.length > 0);
  return others.length > 0 ? undefined : only;
}
