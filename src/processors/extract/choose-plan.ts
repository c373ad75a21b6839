import { setImmediate } from 'node:timers/promises';
import type { RefinePlan } from '../../agents/outputs.js';
import { type LocatedBlock, locateBlock } from '../../solution/index.js';

/** A plan whose block stands in the solution, and where. */
export interface ValidPlan {
  readonly index: number;
  readonly plan: string;
  readonly located: LocatedBlock;
}

/**
 * Where the block of each plan stands: by the whitespace rule (REQ-P2O-018.1), null where nowhere. Each takes a look at the
 * whole script, and nobody else waits for all of them.
 */
export async function locatePlans(
  plans: readonly RefinePlan[],
  content: string,
): Promise<(ValidPlan | null)[]> {
  const located: (ValidPlan | null)[] = [];
  for (const [index, { code_block, plan }] of plans.entries()) {
    const place = locateBlock(code_block, content);
    located.push(place && { index, plan, located: place });
    await setImmediate();
  }
  return located;
}

/** Text of a block without regard to white space, to compare it with earlier ones. */
function withoutSpace(block: string): string {
  return block.replace(/\s+/g, '');
}

/**
 * The plan that an answer stands for: its first one where that is valid (REQ-P2O-015). If its block was refined
 * before, another valid plan of the same answer goes first, if there is one.
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
