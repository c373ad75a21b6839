/**
 * How sure it is that a comment stands for code that was left out. `marked`: its words say so, and marks of
 * omission (`...`, brackets) do. `plain`: its words do. `likely`: it may as well describe the code below it.
 */
export type PlaceholderStrength = 'marked' | 'plain' | 'likely';

const ELLIPSIS = /\.{3}|…/;
const CODE =
  '(?:code|script|block|function|method|class|logic|implementation|pipeline|file|program|solution|body|lines?|imports)';
const STATE =
  '(?:unchanged|unmodified|untouched|identical|omitted|elided|(?:the )?same(?: as (?:before|above|earlier)|(?! as (?:before|above|earlier)))|' +
  'as (?:is|it is|before|above)|not (?:changed|shown)|(?:goes |continues )?(?:here|below)|follows|for brevity)';
const VERB = '(?:is|are|stays?|remains?|was|were|to be|kept|left|exactly)';
const DETERMINER = '(?:all )?(?:the |your |my |this |our )?';
const KIND = '(?:original |existing |previous |remaining |above |unchanged |other |same )';
const STATES = `(?:(?: ${VERB})*(?: ${STATE})+)`;

/** What only dresses up a phrase: "keep the rest as is", "unchanged from the original script". */
const REQUEST = /^(?:please )?(?:(?:keep|leave|continue with|use|add|put|insert|include|paste|write) )?/;
const ORIGIN =
  / (?:from|in|of|as in) (?:the |your )?(?:original|above|previous)(?: (?:code|script|solution|version|block))?$/;

/** Whole comments in lower case, without punctuation and without the dress. */
const PHRASES: readonly { readonly pattern: RegExp; readonly strength: PlaceholderStrength }[] = [
  // "the rest of the pipeline is unchanged", "rest unchanged": whatever the rest is of
  { pattern: new RegExp(`^(?:the )?(?:rest|remainder)(?: of [\\w' ]{1,60}?)?${STATES}$`), strength: 'plain' },
  // "the rest", "rest of your code"
  {
    pattern: new RegExp(`^(?:the )?(?:rest|remainder)(?: of ${DETERMINER}${KIND}?${CODE})?$`),
    strength: 'plain',
  },
  // "existing code", "remaining preprocessing code stays the same"
  { pattern: new RegExp(`^${DETERMINER}${KIND}(?:\\w+ ){0,3}?${CODE}${STATES}?$`), strength: 'plain' },
  // "training code unchanged", "everything else remains the same"
  {
    pattern: new RegExp(`^(?:[\\w ]{1,40} )?(?:${CODE}|everything(?: else)?|all else)${STATES}$`),
    strength: 'plain',
  },
  // "todo: implement the rest"
  {
    pattern: /^(?:todo|fixme)\b.*\b(?:implement|rest|remaining|fill|complete|code|add|write|finish)\b/,
    strength: 'plain',
  },
  // "model training stays the same": anything that is said to stay
  { pattern: new RegExp(`^[\\w ]{1,40} (?:stays?|remains?|kept|left) ${STATE}$`), strength: 'likely' },
  // "same as before", "unchanged", "no changes"
  {
    pattern: new RegExp(
      `^(?:${STATE}(?: for brevity)?|no (?:other |further )?changes?(?: (?:here|needed|required|below))?|etc|and so on|fill in)$`,
    ),
    strength: 'likely',
  },
];

/** Checks the text of a comment by its words and marks alone; null for one that only describes something. */
export function placeholderStrength(comment: string): PlaceholderStrength | null {
  // Longer than any placeholder; and the patterns need not be tried on it.
  if (comment.length > 100) return null;
  const text = comment.replace(/^[#\s]+/, '').trim();
  const words = text
    .toLowerCase()
    .replace(/^[^\p{L}]+|(?<![^\p{L}])[^\p{L}]+$/gu, '')
    .replace(/[^\p{L}\p{N}_']+/gu, ' ')
    .replace(REQUEST, '')
    .replace(ORIGIN, '');
  if (words === '') return ELLIPSIS.test(text) ? 'marked' : null;
  const phrase = PHRASES.find(({ pattern }) => pattern.test(words));
  const isMarked = ELLIPSIS.test(text) || /^[([{<].*[)\]}>]$/.test(text);
  if (phrase !== undefined) return isMarked ? 'marked' : phrase.strength;
  // "... load the data ..." leaves something out; "Loading the data..." does not.
  if (!/^(?:\.{3}|…)/.test(text)) return null;
  return /(?:\.{3}|…)$/.test(text) ? 'plain' : 'likely';
}
