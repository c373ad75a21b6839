import { blocksFor, type ComponentBlock } from './component-blocks.js';
import { type ComponentKind, kindById } from './component-kinds.js';
import { solutionStatements } from './solution-statements.js';
import { componentsIn, type NamedComponent } from './summary-components.js';

/** A block and what to do with it; the names are those that the agents' JSON has (REQ-P2O-015). */
export interface PlannedBlock {
  /** Exact substring of the solution: whole statements, with the indentation of the first line. */
  readonly code_block: string;
  /** Three to five sentences. */
  readonly plan: string;
}

export interface RefinementInput {
  readonly solution: string;
  /** Any summary of an ablation study, from any source. */
  readonly summary: string;
  /** Blocks that were refined before; none of them is proposed again. */
  readonly previousBlocks: readonly string[];
}

const MAX_PLANS = 6;
const BLOCKS_A_COMPONENT = 2;
/** Where the summary names nothing that the script has: parts that pay most often, in this order. */
const FALLBACK_KINDS = [
  'feature engineering',
  'model',
  'encoder',
  'imputer',
  'ensemble',
  'scaler',
  'text features',
  'pretrained weights',
];
const GENERAL_ADVICE = [
  'Rewrite this step in one clearly better way that keeps the names it defines, so that the rest of the script still runs.',
  'Change one thing at a time and keep whichever form scores better on the validation part.',
  'Fit every learned step on the training part only and keep the running time close to that of today.',
];

const withoutSpace = (text: string): string => text.replace(/\s+/g, '');

/** A name for use inside a sentence: one line, and nothing that could end the sentence. */
function spoken(name: string): string {
  return name
    .replace(/\s+/g, ' ')
    .replace(/(?<![.!?])[.!?]+(?=\s|$)/g, '')
    .trim()
    .slice(0, 60);
}

function reasonFor(component: NamedComponent | undefined, kind: ComponentKind | undefined): string[] {
  if (component === undefined) {
    return [
      `The ablation summary singles out no further component, so this plan turns to the ${kind?.id ?? 'step'} in this block.`,
    ];
  }
  const name = spoken(component.name === '' ? `the ${component.kind?.id ?? 'component'}` : component.name);
  const rankReason = {
    most: 'has the most impact in the ablation study, so it is refined first',
    between: 'changes the score in the ablation study',
    least: 'has the least impact in the ablation study, so this block comes last',
  };
  const reason = [`This block makes ${name}, which ${rankReason[component.rank]}.`];
  if (component.harmful)
    reason.push(
      'Since the score improved without it, first try a simpler form of it, and leave it out if that scores better.',
    );
  return reason;
}

function planText(component: NamedComponent | undefined, kind: ComponentKind | undefined): string {
  const reason = reasonFor(component, kind);
  return [...reason, ...(kind?.advice ?? GENERAL_ADVICE)].slice(0, 5).join(' ');
}

/**
 * Proposes blocks of the solution to refine, the most promising first: the statements that make the most
 * impactful component of the summary, then those of other components, then parts that pay most often. Empty
 * where the script has no statement that can be taken whole (REQ-P2O-013, 015, 016).
 */
export async function planRefinement(input: RefinementInput): Promise<PlannedBlock[]> {
  const statements = await solutionStatements(input.solution);
  if (statements.length === 0) return [];
  const previous = new Set(input.previousBlocks.map(withoutSpace));
  const plans: (PlannedBlock & ComponentBlock)[] = [];
  const propose = (component: NamedComponent | undefined, kind: ComponentKind | undefined): void => {
    let added = 0;
    for (const block of blocksFor(statements, component?.name ?? '', kind, component?.except)) {
      if (added === BLOCKS_A_COMPONENT || plans.length === MAX_PLANS) return;
      const code = input.solution.slice(block.start, block.end);
      if (
        previous.has(withoutSpace(code)) ||
        plans.some((plan) => plan.start < block.end && block.start < plan.end)
      )
        continue;
      plans.push({ ...block, code_block: code, plan: planText(component, kind) });
      added += 1;
    }
  };
  for (const component of await componentsIn(input.summary)) propose(component, component.kind);
  for (const id of FALLBACK_KINDS) propose(undefined, kindById(id));
  return plans.map(({ code_block, plan }) => ({ code_block, plan }));
}
