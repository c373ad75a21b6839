import { ownBlock } from '../findings/block.js';
import type { Leak } from '../findings/find-leaks.js';
import type { Call, Span, Stmt } from '../syntax/ast.js';
import { calleeName, expressionsIn, functionAround, ownExpressions } from '../syntax/walk.js';
import type { RepairContext } from './context.js';

/** Where a leak is mended. */
export type Lift = (leak: Leak) => Leak;

export const asTheyAre: Lift = (leak) => leak;

/** A block around calls of helpers, and how the leaks in the helpers become those of the calls. */
interface CallingBlock {
  readonly block: Span;
  readonly lift: Lift;
}

/**
 * Leaks of a block in helper functions, as leaks of the statements that call these, the innermost call first: a helper may be
 * right as it is, and get the wrong rows.
 */
export function* atTheirCalls(source: string, { leaks }: RepairContext): Generator<CallingBlock> {
  const [first] = leaks;
  const tried = new Set<number>();
  for (let depth = 0; depth < (first?.callers?.length ?? 0); depth += 1) {
    const lift: Lift = (leak) => atCall(leak, depth);
    const lifted = first === undefined ? undefined : lift(first);
    if (lifted === undefined || lifted === first || tried.has(lifted.statement.start)) continue;
    tried.add(lifted.statement.start);
    yield { block: ownBlock(source, lifted), lift };
  }
}

function atCall(leak: Leak, depth: number): Leak {
  const { callers = [] } = leak;
  const caller = callers[depth];
  const called = depth === 0 ? leak.statement : callers[depth - 1];
  const call = caller === undefined || called === undefined ? undefined : callIn(caller, called);
  if (caller === undefined || call === undefined) return leak;
  return { ...leak, statement: caller, node: call, nodes: [call] };
}

/** The call of the function that a statement is in, or the only call that may lead there. */
function callIn(caller: Stmt, called: Stmt): Call | undefined {
  const calls = ownExpressions(caller)
    .flatMap((own) => [...expressionsIn(own)])
    .filter((part): part is Call => part.type === 'call');
  const around = functionAround(called);
  const name = around?.type === 'function' ? around.name : undefined;
  const direct = calls.filter((call) => calleeName(call) === name);
  const [only, ...others] = direct.length > 0 ? direct : calls.filter((call) => call.args.length > 0);
  return others.length > 0 ? undefined : only;
}
