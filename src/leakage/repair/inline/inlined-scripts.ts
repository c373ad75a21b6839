import type { DetailedAnalysis } from '../../analyze.js';
import type { Leak } from '../../findings/find-leaks.js';
import type { FunctionDefinition, Module, Stmt } from '../../syntax/ast.js';
import { parseModule } from '../../syntax/parse-module.js';
import { functionAround } from '../../syntax/walk.js';
import type { WorkAllowance } from '../../values/work.js';
import { inlineFunction } from './inline-call.js';
import { onlyCallOf } from './only-call.js';
import { statementsOfSuite } from './scopes.js';

/** How many functions are inlined at most. */
const MAX_FUNCTIONS = 6;

/**
 * The script with the functions inlined that separate a leak from the division of the rows, so that both are in one suite: first
 * those around the leak, then those around the division too, then those of other leaks of this division too. Nothing where one of
 * these functions is called several times, or in a way that cannot be replaced by its lines.
 */
export async function* inlinedScripts(
  { module, leaks }: DetailedAnalysis,
  leak: Leak,
  work: WorkAllowance,
): AsyncGenerator<string> {
  const steps = work.run(() => {
    const split = leak.split?.statement ?? statementAt(module, leak.scoreNode.start);
    const ofSplit = split === undefined ? [] : functionsAround(module, split);
    const others = leaks.filter(
      (other) => other !== leak && other.split?.statement === leak.split?.statement,
    );
    const ofLeak = functionsUpTo(functionsAround(module, leak.statement), ofSplit);
    const ofOthers = others.map(({ statement }) =>
      functionsUpTo(functionsAround(module, statement), ofSplit),
    );
    const beforeSplit = functionsUpTo(ofSplit, functionsAround(module, leak.statement));
    return [ofLeak, beforeSplit, ofOthers.flat()];
  });
  const names = new Set<string>();
  for (const functions of steps) {
    const before = names.size;
    for (const { name } of functions) names.add(name);
    if (names.size === before) continue;
    const source = names.size > MAX_FUNCTIONS ? undefined : await inlined(module, [...names], work);
    if (source === undefined) return;
    yield source;
  }
}

/** Functions up to the first that is around something else too. */
function functionsUpTo(
  functions: readonly FunctionDefinition[],
  others: readonly FunctionDefinition[],
): readonly FunctionDefinition[] {
  const common = functions.findIndex((one) => others.includes(one));
  return common < 0 ? functions : functions.slice(0, common);
}

async function inlined(
  module: Module,
  names: readonly string[],
  work: WorkAllowance,
): Promise<string | undefined> {
  let current = module;
  for (const name of names) {
    const source = work.run(() => {
      const definition = [...statementsOfSuite(current.body.statements)].find(
        (one): one is FunctionDefinition => one.type === 'function' && one.name === name,
      );
      return definition === undefined ? undefined : inlineFunction(current, definition);
    });
    if (source === undefined) return undefined;
    current = await parseModule(source);
  }
  return current.source;
}

/** The innermost statement at an offset. */
function statementAt(module: Module, offset: number): Stmt | undefined {
  return [...statementsOfSuite(module.body.statements)].findLast(
    ({ start, end }) => start <= offset && offset < end,
  );
}

/** The functions around a statement, each called by a line of the next one. */
function functionsAround(module: Module, statement: Stmt): FunctionDefinition[] {
  const found: FunctionDefinition[] = [];
  let around = functionAround(statement);
  while (around?.type === 'function' && !found.includes(around)) {
    found.push(around);
    const call = onlyCallOf(module, around);
    if (call === undefined) break;
    around = functionAround(call.statement);
  }
  return found;
}
