import type { Call } from '../syntax/ast.js';
import { joinFacts, NO_FACTS, union } from '../values/facts.js';
import { emptyTable, newTable } from '../values/join.js';
import { factsOf, opaque, type Value } from '../values/value.js';
import { type Arguments, argumentsOf } from './arguments.js';
import type { Interpreter } from './interpreter.js';
import { meetLabels } from './operators.js';

/** A call of something unknown: the result is made of the arguments, whatever happens inside. */
export function unknownCall(interp: Interpreter, args: Arguments, call: Call): Value {
  let facts = NO_FACTS;
  let scored = NO_FACTS.scores;
  for (const value of args.all) {
    const next = factsOf(value);
    scored = union(scored, meetLabels(interp, facts, next, call));
    facts = joinFacts(facts, next);
  }
  for (const value of args.all) runCallback(interp, value, call);
  const result = { ...facts, scores: union(facts.scores, scored) };
  if (facts === NO_FACTS) {
    const siteKey = interp.siteKey(call);
    return { type: 'opaque', facts, source: interp.source(`call:${siteKey}`, interp.label(call)) };
  }
  const single = args.all.find((value) => value.type === 'table');
  if (single?.type !== 'table' || facts.rows.length === 0) return opaque(result);
  const from = args.all.flatMap((value) => (value.type === 'table' ? [...value.cell.value.from] : []));
  return newTable({ ...emptyTable(result, single.cell.value.shape), from: [...new Set(from)] });
}

/** A function handed to unknown code is called by it, with arguments nobody knows. */
export function runCallback(interp: Interpreter, value: Value, call: Call): void {
  if (value.type !== 'function' || value.self !== undefined) return;
  if (value.definition.type === 'function' && value.definition.decorators.length > 0) return;
  interp.callFunction(value, argumentsOf([]), call);
}
