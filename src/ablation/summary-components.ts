import { COMPONENT_KINDS, type ComponentKind, isCodeOf } from './component-kinds.js';
import { readAblation } from './read-ablation.js';
import { componentName, plainLabel, readLabel } from './variant-label.js';

export interface NamedComponent {
  readonly name: string;
  readonly kind: ComponentKind | undefined;
  /** Set where the summary only tells what the component is not ("everything except LightGBM"). */
  readonly except?: string;
  /** What the summary says of it. */
  readonly rank: 'most' | 'between' | 'least';
  /** Whether the summary says that the score improves without it. */
  readonly harmful: boolean;
}

const MOST =
  /\b(?:most|more)[ -](?:impactful|important|significant|critical|influential|valuable|sensitive|crucial|essential|relevant|effective)\b|\bcontribut\w*\s+(?:\w+\s+)?(?:the\s+)?most\b|\b(?:largest|biggest|greatest|highest|strongest|steepest|sharpest|most severe|most substantial|substantial|dramatic)\s+(?:\w+\s+){0,2}(?:drop|impact|decrease|decline|increase|effect|change|contribution|degradation|influence|loss|gain|improvement)\b|\b(?:the )?most (?:impact|damage|effect)\b|\b(?:matters?|hurts?|helps?|drops?|degrade[sd]?|affects?) (?:\w+ ){0,3}(?:the )?most\b|\b(?:key|main|primary|dominant) (?:driver|contributor|component|factor)\b|\branks? first\b|\bby far\b/i;
const LEAST =
  /\b(?:least|less)[ -](?:impactful|important|significant|critical|influential|valuable|sensitive|relevant|effective)\b|\b(?:smallest|lowest|weakest|minimal|negligible|marginal|little|minor|no) (?:\w+ ){0,2}(?:drop|impact|effect|change|contribution|influence|difference)\b|\bleast impact\b|\bmatter(?:s|ed)? (?:the )?(?:least|less)\b|\bdid not (?:change|affect|improve)\b/i;
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
/** How the offline summary names what a lone variant leaves out. */
const EXCEPT = /^everything except (.+)$/i;
const QUOTED_NAME =
  /`([^`\n]{2,80})`|\*\*([^*\n]{2,80})\*\*|"([^"\n]{2,80})"|“([^”\n]{2,80})”|(?<![\p{L}])'([^'\n]{2,80})'(?![\p{L}])/u;

function kindOf(text: string): ComponentKind | undefined {
  const found = COMPONENT_KINDS.map((kind, order) => ({ kind, order, at: text.search(kind.words) })).filter(
    ({ at }) => at !== -1,
  );
  found.sort((a, b) => a.at - b.at || a.order - b.order);
  return (
    found[0]?.kind ??
    COMPONENT_KINDS.find((kind) =>
      text.split(/[^\w]+/).some((word) => word.length > 3 && isCodeOf(kind, word)),
    )
  );
}

function cleanName(phrase: string): string {
  let name = plainLabel(phrase).replace(ACTION, '');
  if (EXCEPT.test(name)) return name;
  const label = readLabel(name);
  if (label.role === 'removed' || label.role === 'replaced' || label.role === 'added') name = label.component;
  return componentName(name.replace(/^(?:the|its|our|their) /i, '')).slice(0, 80);
}

/** Words before a subject that only say where it was seen. */
const INTRODUCTION =
  /^(?:based on|according to|in|among|of|from|for|as|across|given|overall|on|with regard to|looking at)\b[^,]{0,80},\s*/i;
const NO_NAME =
  /^(?:the )?(?:most|least|largest|biggest|greatest|it|this|that|there|study|component|performance|score|results?|ablation|baseline)\b/i;
/** "X is the most …", "X contributes the most": what has the impact comes before these words. */
const SUBJECT_FIRST =
  /(?:\b(?:is|was|are|were|be|being|has|had|have|shows?|showed|causes?|caused|leads? to|led to|makes?|made|with|remains?|proved|as|exerts?|exerted)\s+(?:by far\s+)?(?:the\s+|an?\s+)?)$/i;

function quotedNameIn(text: string): string | undefined {
  return QUOTED_NAME.exec(text)
    ?.slice(1)
    .find((group) => group !== undefined);
}

/** The component that a sentence about the greatest (or least) impact speaks of; empty where none is found. */
function nameIn(phrase: string, superlative: RegExp): string {
  const sentence = phrase.replace(INTRODUCTION, '');
  const match = superlative.exec(sentence);
  const words = match?.[0] ?? '';
  const isVerb = /^(?:contribut|matter|hurt|help|drop|degrade|affect|rank|by far|did not)/i.test(words);
  const subjectFirst = match !== null && (isVerb || SUBJECT_FIRST.test(sentence.slice(0, match.index)));
  const after = AFTER_IS.exec(sentence)?.[1];
  const before = BEFORE_VERB.exec(sentence)?.[1];
  for (const phrase of subjectFirst ? [before, after] : [after, before]) {
    if (phrase === undefined) continue;
    const quoted = quotedNameIn(phrase);
    // "the target encoding of `city`": the words around the quotation say what it is.
    const isWhole = quoted === undefined || (kindOf(quoted) === undefined && kindOf(phrase) !== undefined);
    const name = cleanName(isWhole ? phrase : quoted);
    if (name.length > 1 && !NO_NAME.test(name)) return name;
  }
  return cleanName(quotedNameIn(sentence) ?? '');
}

const MAX_SUMMARY_LENGTH = 100_000;

/**
 * The components that a summary names, the most impactful first. The summary may be written by anybody, also by
 * a model: sentences about the greatest impact come first, then scores that can be read from it, then lists.
 */
export async function componentsIn(summary: string): Promise<NamedComponent[]> {
  const text = summary
    .slice(0, MAX_SUMMARY_LENGTH)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/\n\s*\n/g, '\n');
  const clauses = text
    .split(
      /\n+|(?<=[.!?])\s+(?=[\p{Lu}"'`*\d])|;\s+|(?:,|(?<![\s,]))\s+(?:while|whereas|but|although|though)\s+/u,
    )
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '');
  const found: NamedComponent[] = [];
  const add = (
    phrase: string,
    context: string,
    rank: NamedComponent['rank'],
    harmful = HARMFUL.test(context),
  ): void => {
    const except = EXCEPT.exec(phrase)?.[1];
    const name = except === undefined ? phrase : '';
    const kind = kindOf(except ?? name) ?? (name === '' ? kindOf(context) : undefined);
    if (name === '' && kind === undefined) return;
    if (found.some((one) => one.name.toLowerCase() === name.toLowerCase() && name !== '')) return;
    found.push({
      name,
      kind,
      rank,
      harmful,
      ...(except === undefined ? {} : { except }),
    });
  };
  for (const clause of clauses)
    if (MOST.test(clause) && !LEAST.test(clause) && !DENIED.test(clause))
      add(nameIn(clause, MOST), clause, 'most');
  const reading = await readAblation({ ablationCode: '', rawOutput: clauses.join('\n') });
  for (const [position, variant] of reading.variants.entries()) {
    const rank = position === 0 && found.length === 0 ? 'most' : 'between';
    add(cleanName(variant.component), variant.label, rank, variant.effect === 'harms');
  }
  for (const clause of clauses) {
    const head = /^(?:[-*•]|\d{1,2}[.)])\s+(?=\S)(.{2,80}?)(?<!\s)\s*(?:[:(–—]|$)/u.exec(clause)?.[1];
    if (head !== undefined && !MOST.test(clause))
      add(cleanName(head), clause, LEAST.test(clause) ? 'least' : 'between');
  }
  for (const clause of clauses)
    if (LEAST.test(clause) && !DENIED.test(clause)) add(nameIn(clause, LEAST), clause, 'least');
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
