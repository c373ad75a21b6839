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
 * The script with the functions inlined that lie between a leak and the division of the rows, so that both stand in one suite;
 * first without those around the division. Nothing where one of these functions is called several times, or in a way that cannot
 * be replaced by its lines.
 */
export async function* inlinedScripts(
  { module }: DetailedAnalysis,
  leak: Leak,
  work: WorkAllowance,
): AsyncGenerator<string> {
  const ofLeak = work.run(() => functionsAround(module, leak.statement));
  const ofSplit = work.run(() => {
    const split = leak.split?.statement ?? statementAt(module, leak.scoreNode.start);
    return split === undefined ? [] : functionsAround(module, split);
  });
  const common = ofLeak.find((one) => ofSplit.includes(one));
  const upTo = (functions: readonly FunctionDefinition[]): readonly FunctionDefinition[] =>
    common === undefined ? functions : functions.slice(0, functions.indexOf(common));
  const [first, second] = [upTo(ofLeak), upTo(ofSplit)];
  if (first.length + second.length > MAX_FUNCTIONS) return;
  const names = new Set<string>();
  for (const functions of [first, second]) {
    if (functions.length === 0) continue;
    for (const { name } of functions) names.add(name);
    const source = await inlined(module, [...names], work);
    if (source === undefined) return;
    yield source;
  }
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
