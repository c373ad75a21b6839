import { blocksFor, type ComponentBlock, MIN_MADE_FIT } from './component-blocks.js';
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
  'Change one thing at a time, and choose between the forms by cross-validation within the training part.',
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

/** Why a block is planned. */
interface Occasion {
  /** The component that the summary names; undefined for a part that pays most often. */
  readonly component?: NamedComponent;
  readonly kind: ComponentKind | undefined;
  /** Whether the block makes the component, and is not only the one nearest to it. */
  readonly isMade: boolean;
  /** Components that the summary names and no statement makes. */
  readonly missing: readonly string[];
}

const MAX_MISSING = 3;

function reasonFor({ component, kind, isMade, missing }: Occasion): string[] {
  if (component === undefined) {
    const turn = `so this plan turns to the ${kind?.id ?? 'step'} in this block`;
    return missing.length === 0
      ? [`The ablation summary singles out no further component, ${turn}.`]
      : [`No statement of the script makes ${listed(missing)}, which the ablation summary names, ${turn}.`];
  }
  const name = nameOf(component);
  const rankReason = {
    most: 'has the most impact in the ablation study, so it is refined first',
    between: 'changes the score in the ablation study',
    least: 'has the least impact in the ablation study, so this block comes last',
  };
  if (!isMade)
    return [
      `No statement of the script clearly makes ${name}, which the ablation summary names; this block is the nearest to it.`,
    ];
  const reason =
    missing.length === 0
      ? []
      : [`No statement of the script makes ${listed(missing)}, which the ablation summary names.`];
  reason.push(`This block makes ${name}, which ${rankReason[component.rank]}.`);
  if (component.harmful)
    reason.push(
      'Since the score improved without it, first try a simpler form of it, and leave it out if cross-validation within the training part says so too.',
    );
  return reason;
}

function nameOf({ name, kind }: NamedComponent): string {
  return spoken(name === '' ? `the ${kind?.id ?? 'component'}` : name);
}

function listed(names: readonly string[]): string {
  const some = names.slice(0, MAX_MISSING);
  const last = names.length > MAX_MISSING ? 'others' : some.pop();
  return some.length === 0 ? `${last}` : `${some.join(', ')} and ${last}`;
}

function planText(occasion: Occasion): string {
  // The advice is for the component; a block that does not make it is rewritten by general rules.
  const advice = (occasion.isMade ? occasion.kind?.advice : undefined) ?? GENERAL_ADVICE;
  return [...reasonFor(occasion), ...advice].slice(0, 5).join(' ');
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
  const missing: string[] = [];
  const propose = (component: NamedComponent | undefined, kind: ComponentKind | undefined): void => {
    let added = 0;
    const blocks = blocksFor(statements, component?.name ?? '', kind, component?.except);
    if (blocks.length === 0 && component !== undefined) missing.push(nameOf(component));
    for (const block of blocks) {
      if (added === BLOCKS_A_COMPONENT || plans.length === MAX_PLANS) return;
      const code = input.solution.slice(block.start, block.end);
      if (
        previous.has(withoutSpace(code)) ||
        plans.some((plan) => plan.start < block.end && block.start < plan.end)
      )
        continue;
      const isMade = component === undefined || block.fit >= MIN_MADE_FIT;
      // The first plan tells it, and those that turn to another part.
      const reported = plans.length === 0 || component === undefined ? [...missing] : [];
      const occasion = { ...(component === undefined ? {} : { component }), kind, isMade, missing: reported };
      plans.push({ ...block, code_block: code, plan: planText(occasion) });
      added += 1;
    }
  };
  for (const component of await componentsIn(input.summary)) propose(component, component.kind);
  for (const id of FALLBACK_KINDS) propose(undefined, kindById(id));
  return plans.map(({ code_block, plan }) => ({ code_block, plan }));
}
