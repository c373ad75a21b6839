import { libraryCalls } from './library-calls.js';
import type { NormalStatement, Program } from './program.js';
import { alignStatements } from './renaming.js';
import { tile } from './tiling.js';

/**
 * Statements that every script of their kind has: argument parsing, the training step, reading the data,
 * reporting the score. Matched against a statement's template, in which names are `$n`, literals `#` and `"`.
 */
const SKELETON: readonly RegExp[] = [
  /^branch\|__name__ == "$/,
  /\b(?:ArgumentParser|add_argument|parse_args|doctest|getLogger|basicConfig)\b/,
  /\b(?:zero_grad|backward|no_grad|is_available|manual_seed|state_dict|DataLoader|parameters|lr_scheduler)\b/,
  /\b(?:cross_entropy|nll_loss|argmax \(|item \( \)|utils \. data|train_test_split|read_csv|KFold)/,
  /^\|\$\d+ \. (?:step|train|eval|\$\d+) \( \)$/,
  /\. to \( (?:\$\d+|device) \)/,
  /^(?:\w*\|)?\$\d+ , \( \$\d+ , \$\d+ \) in enumerate \( \$\d+ \)$/,
  /^branch\|\$\d+ % \$\d+ \. \$\d+ == #$/,
  /^\|\$\d+ = (?:\{ (?:" : \$\d+ \. \$\d+|" : (?:#|True|False)(?: , )?)+ \})$/,
  /\btorch \. (?:cuda|device|manual_seed)\b|\boptim \. /,
  /^\|\$\d+ \. update \( \$\d+ \)$/,
  /^loop\|\$\d+ < \$\d+ \. \$\d+(?: \+ #)?$/,
  /^(?:return)?\|super \(/,
  /^\|print \(/,
  /^\|console \. (?:log|error) \(/,
  /^\|(?:module \. )?exports\b.* = (?:\$\d+|\{)/,
];
const SKELETON_FACTOR = 0.3;
/** A function whose body says no more than this is one that two people write alike. */
const TRIVIAL_BODY = 9;
const TRIVIAL_FACTOR = 0.4;
const STARTER_STRETCH = 3;
const STARTER_FRACTION = 0.7;

/** How often a statement's template is in known solutions of other tasks, as a fraction of them. */
export type Commonness = (template: string) => number;

/**
 * What each statement of a known program weighs, 0 to 1: nothing where the task hands it out, little
 * where it belongs to a common skeleton, only calls a library, belongs to a one-line function, or is in many other known
 * solutions.
 */
export function statementWeights(known: Program, starter?: Program, commonness?: Commonness): Float32Array {
  const factors = new Float32Array(known.statements.length).fill(1);
  const bodies = bodyWeights(known);
  const calls = libraryCalls(known);
  known.statements.forEach((statement, index) => {
    let factor = 1;
    if (calls.has(index) || SKELETON.some((pattern) => pattern.test(statement.template)))
      factor = SKELETON_FACTOR;
    const body = bodies.get(statement.scope);
    if (statement.scope >= 0 && body !== undefined && body <= TRIVIAL_BODY)
      factor = Math.min(factor, TRIVIAL_FACTOR);
    if (commonness !== undefined) factor = Math.min(factor, rarityFactor(commonness(statement.template)));
    factors[index] = factor;
  });
  if (starter !== undefined) takeOffStarter(factors, known, starter);
  return factors;
}

/** Weight of the statements that are not common material. */
export function distinctiveWeight(known: Program, factors: Float32Array): number {
  return known.statements.reduce(
    (sum, { weight }, index) => ((factors[index] as number) < 1 ? sum : sum + weight),
    0,
  );
}

function bodyWeights(known: Program): Map<number, number> {
  const bodies = new Map<number, number>();
  for (const statement of known.statements) {
    if (statement.role === 'define') continue;
    bodies.set(statement.scope, (bodies.get(statement.scope) ?? 0) + statement.weight);
  }
  return bodies;
}

/** In one known solution of fifty: full weight; in one of five: hardly any. */
const RARE = 0.02;
const COMMON = 0.2;

function rarityFactor(fraction: number): number {
  if (fraction <= RARE) return 1;
  if (fraction >= COMMON) return SKELETON_FACTOR;
  return 1 - (1 - SKELETON_FACTOR) * (Math.log(fraction / RARE) / Math.log(COMMON / RARE));
}

/** Also finds a line of the starter that was filled in or renamed. */
function takeOffStarter(factors: Float32Array, known: Program, starter: Program): void {
  for (const { pairs } of alignStatements(starter, known)) for (const [, index] of pairs) factors[index] = 0;
  const covered = new Uint8Array(known.tokens.exact.length);
  for (const { known: from, length } of tile(starter.tokens.exact, known.tokens.exact, STARTER_STRETCH)) {
    covered.fill(1, from, from + length);
  }
  known.statements.forEach((statement: NormalStatement, index) => {
    let starterTokens = 0;
    for (let i = statement.from; i < statement.to; i++) starterTokens += covered[i] as number;
    if (starterTokens >= STARTER_FRACTION * (statement.to - statement.from)) factors[index] = 0;
  });
}
