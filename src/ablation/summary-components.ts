import { COMPONENT_KINDS, type ComponentKind } from './component-kinds.js';
import { readAblation } from './read-ablation.js';
import { componentName, plainLabel, readLabel } from './variant-label.js';

export interface NamedComponent {
  readonly name: string;
  readonly kind: ComponentKind | undefined;
  /** What the summary says of it. */
  readonly rank: 'most' | 'between' | 'least';
  /** Whether the summary says that the score improves without it. */
  readonly harmful: boolean;
}

const MOST =
  /\b(?:most|more)[ -](?:impactful|important|significant|critical|influential|valuable|sensitive|crucial|essential|relevant|effective)\b|\bcontribut\w*\s+(?:\w+\s+)?(?:the\s+)?most\b|\b(?:largest|biggest|greatest|highest|strongest|steepest|sharpest|most severe|most substantial|substantial|dramatic)\s+(?:\w+\s+){0,2}(?:drop|impact|decrease|decline|increase|effect|change|contribution|degradation|influence|loss|gain|improvement)\b|\b(?:the )?most (?:impact|damage|effect)\b|\b(?:matters?|hurts?|helps?|drops?|degrade[sd]?|affects?) (?:\w+ ){0,3}(?:the )?most\b|\b(?:key|main|primary|dominant) (?:driver|contributor|component|factor)\b|\branks? first\b|\bby far\b/i;
const LEAST =
  /\b(?:least|less)[ -](?:impactful|important|significant|critical|influential|valuable|sensitive|relevant|effective)\b|\b(?:smallest|lowest|weakest|minimal|negligible|marginal|little|minor|no) (?:\w+ ){0,2}(?:drop|impact|effect|change|contribution|influence|difference)\b|\bleast impact\b|\bmatters? (?:the )?least\b|\bdid not (?:change|affect|improve)\b/i;
const DENIED =
  /\b(?:no single|none of the|no component|cannot|could not|unable|not possible|no ranking|inconclusive)\b/i;
const HARMFUL =
  /\bharmful\b|\b(?:improv\w*|better|increas\w*|rais\w*)\b.{0,60}\b(?:without|when (?:it is )?(?:removed|taken out|dropped))\b|\b(?:remov\w*|dropp?\w*|disabl\w*|without|excluding|taking it out)\b.{0,80}\b(?:improv\w*|better performance|boost\w*)\b/i;

const AFTER_IS =
  /(?:\bmost\b|\bleast\b|\blargest\b|\bbiggest\b|\bgreatest\b|\bhighest\b|\bmain\b|\bkey\b|\bprimary\b|\bdominant\b).{0,90}?(?:\b(?:is|was|are|were|came from|comes from|caused by|due to|resulted from|results from|occurred when|occurs when|seen when|observed when|belongs to)\b|:)\s*(?:the\s+|that of\s+|by\s+|from\s+|when\s+)?(?:the\s+)?(\S.{1,100}?)(?=[:;,.(]|\s(?:in the|with|as|because|since|whose|which|that|by|where|is|was|are|were|led|leads|caused|causes|from \d|to \d|dropp\w*|reduc\w*|decreas\w*|increas\w*)\b|$)/i;
const BEFORE_VERB =
  /^(?:.{0,60}?:\s*)?(?:however,?\s+|overall,?\s+|clearly,?\s+|in particular,?\s+)?(\S.{1,110}?),?\s+(?:is|was|are|has|had|have|shows?|showed|cause[sd]?|contribut\w+|appears?|proved|turned out|seems?|emerge[sd]?|stands? out|leads?|led|results?|resulted|produce[sd]?|yield\w*|degrade[sd]?|hurts?|matters?|reduce[sd]?|decrease[sd]?|drops?|dropped|affects?|affected|made|makes|gives?|gave|plays?|ranks?)\b/i;
const ACTION =
  /^(?:the |a |an )?(?:removal|removing|ablation|ablating|absence|elimination|eliminating|exclusion|excluding|disabling|dropping|lack|omission|omitting|replacing|taking out|without|use|using|impact|effect|contribution|case) (?:of |out )?(?:the |a |an )?/i;
const MARKED_NAME =
  /`([^`\n]{2,80})`|\*\*([^*\n]{2,80})\*\*|"([^"\n]{2,80})"|“([^”\n]{2,80})”|(?<![\p{L}])'([^'\n]{2,80})'(?![\p{L}])/u;

function kindOf(text: string): ComponentKind | undefined {
  const found = COMPONENT_KINDS.map((kind, order) => ({ kind, order, at: text.search(kind.words) })).filter(
    ({ at }) => at !== -1,
  );
  found.sort((a, b) => a.at - b.at || a.order - b.order);
  return (
    found[0]?.kind ??
    COMPONENT_KINDS.find((kind) =>
      text.split(/[^\w]+/).some((word) => word.length > 3 && kind.code.test(word)),
    )
  );
}

function cleanName(phrase: string): string {
  let name = plainLabel(phrase).replace(ACTION, '');
  const label = readLabel(name);
  if (label.role === 'removed' || label.role === 'replaced' || label.role === 'added') name = label.component;
  return componentName(
    name.replace(/^(?:the|its|our|their) /i, '').replace(/^everything except /i, ''),
  ).slice(0, 80);
}

function nameIn(sentence: string): string {
  const after = AFTER_IS.exec(sentence)?.[1];
  const before = BEFORE_VERB.exec(sentence)?.[1];
  for (const phrase of [after, before]) {
    if (phrase === undefined) continue;
    const marked = MARKED_NAME.exec(phrase)
      ?.slice(1)
      .find((group) => group !== undefined);
    // "the target encoding of `city`": the words around the mark say what it is.
    const isWhole = marked === undefined || (kindOf(marked) === undefined && kindOf(phrase) !== undefined);
    const name = cleanName(isWhole ? phrase : marked);
    if (
      name.length > 1 &&
      !/^(?:the )?(?:most|least|largest|biggest|it|this|that|there|study|component|performance|score|results?|ablation|baseline)\b/i.test(
        name,
      )
    )
      return name;
  }
  const marked = MARKED_NAME.exec(sentence)
    ?.slice(1)
    .find((group) => group !== undefined);
  return marked === undefined ? '' : cleanName(marked);
}

const LONGEST_SUMMARY = 100_000;

/**
 * The components that a summary names, the most impactful first. The summary may be written by anybody, also by
 * a model: sentences about the greatest impact come first, then scores that can be read from it, then lists.
 */
export async function componentsIn(summary: string): Promise<NamedComponent[]> {
  const text = summary.slice(0, LONGEST_SUMMARY);
  const clauses = text
    .split(/\n+|(?<=[.!?])\s+(?=[\p{Lu}"'`*\d])|;\s+|,?\s+(?:while|whereas|but|although|though)\s+/u)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '');
  const found: NamedComponent[] = [];
  const add = (name: string, context: string, rank: NamedComponent['rank']): void => {
    const kind = kindOf(name) ?? (name === '' ? kindOf(context) : undefined);
    if (name === '' && kind === undefined) return;
    if (found.some((one) => one.name.toLowerCase() === name.toLowerCase() && name !== '')) return;
    found.push({ name, kind, rank, harmful: HARMFUL.test(context) });
  };
  for (const clause of clauses)
    if (MOST.test(clause) && !LEAST.test(clause) && !DENIED.test(clause)) add(nameIn(clause), clause, 'most');
  const reading = await readAblation({ ablationCode: '', rawOutput: clauses.join('\n') });
  for (const [position, variant] of reading.variants.entries()) {
    add(
      cleanName(variant.component),
      variant.label,
      position === 0 && found.length === 0 ? 'most' : 'between',
    );
  }
  for (const clause of clauses) {
    const head = /^(?:[-*•]|\d{1,2}[.)])\s+(.{2,80}?)\s*(?:[:(–—]|$)/u.exec(clause)?.[1];
    if (head !== undefined && !MOST.test(clause))
      add(cleanName(head), clause, LEAST.test(clause) ? 'least' : 'between');
  }
  for (const clause of clauses)
    if (LEAST.test(clause) && !DENIED.test(clause)) add(nameIn(clause), clause, 'least');
  for (const clause of clauses) {
    if (DENIED.test(clause) || MOST.test(clause)) continue;
    const kind = kindOf(clause);
    if (kind !== undefined && !found.some((one) => one.kind === kind)) {
      found.push({
        name: '',
        kind,
        rank: LEAST.test(clause) ? 'least' : 'between',
        harmful: HARMFUL.test(clause),
      });
    }
  }
  const order = { most: 0, between: 1, least: 2 };
  return found.sort((a, b) => order[a.rank] - order[b.rank]).slice(0, 30);
}
