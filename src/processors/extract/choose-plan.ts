import { setImmediate } from 'node:timers/promises';
import type { RefinePlan } from '../../agents/outputs.js';
import { type LocatedBlock, locateBlock } from '../../solution/locate-block.js';

/** A plan whose block occurs in the solution, with its location. */
export interface ValidPlan {
  readonly index: number;
  readonly plan: string;
  readonly located: LocatedBlock;
}

/**
 * Locates the block of each plan by the whitespace rule (REQ-P2O-018.1); null if it does not occur. Each search reads the
 * whole script, so other work runs between two searches.
 */
export async function locatePlans(
  plans: readonly RefinePlan[],
  content: string,
): Promise<(ValidPlan | null)[]> {
  const locations: (ValidPlan | null)[] = [];
  for (const [index, { code_block, plan }] of plans.entries()) {
    const located = locateBlock(code_block, content);
    locations.push(located && { index, plan, located });
    await setImmediate();
  }
  return locations;
}

/** Text of a block without white space, to compare it with earlier ones. */
function withoutSpace(block: string): string {
  return block.replace(/\s+/g, '');
}

/**
 * The primary plan of an answer: its first one if that is valid (REQ-P2O-015). If its block was refined before, another
 * valid plan of the same answer is used, if there is one.
 */
export function primaryPlan(
  plans: readonly (ValidPlan | null)[],
  previousBlocks: readonly string[],
): ValidPlan | undefined {
  const first = plans[0] ?? undefined;
  if (first === undefined) return undefined;
  const refined = new Set(previousBlocks.map(withoutSpace));
  const isNew = (plan: ValidPlan | null): plan is ValidPlan =>
    plan !== null && !refined.has(withoutSpace(plan.located.text));
  return isNew(first) ? first : (plans.find(isNew) ?? first);
}

/** The first valid plan of the latest answer that has one (REQ-P2O-018.3). */
export function fallbackPlan<Answer extends { readonly located: readonly (ValidPlan | null)[] }>(
  answers: readonly Answer[],
): { answer: Answer; plan: ValidPlan } | undefined {
  for (const answer of [...answers].reverse()) {
    const plan = answer.located.find((candidate) => candidate !== null);
    if (plan !== undefined) return { answer, plan };
  }
  return undefined;
}
