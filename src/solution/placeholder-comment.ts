/**
 * How sure it is that a comment stands for code that was left out. `marked`: its words say so, and marks of
 * omission (`...`, brackets) do. `plain`: its words do. `likely`: it may as well describe the code below it.
 */
export type PlaceholderStrength = 'marked' | 'plain' | 'likely';

const ELLIPSIS = /\.{3}|…/;
const CODE =
  '(?:code|script|block|function|method|class|logic|implementation|pipeline|file|program|solution|body|lines?)';
const STATE =
  '(?:unchanged|unmodified|untouched|identical|omitted|elided|the same|same|(?:the )?same as (?:before|above|earlier)|' +
  'as (?:is|before|above)|as in the original|not (?:changed|shown)|here|goes here|continues(?: here)?|follows|for brevity)';
const VERB = '(?:is|are|stays?|remains?|was|were|can stay|to be|kept|left|exactly)';
const DETERMINER = '(?:the |your |my |this |our )?';
const KIND = '(?:original |existing |previous |remaining |above |unchanged |other |same )';
const TAIL = `(?:(?: ${VERB})*(?: ${STATE})+)`;

/** Whole comments, lower case, without the marks around them. */
const PHRASES: readonly { readonly pattern: RegExp; readonly strength: PlaceholderStrength }[] = [
  // "the rest of the pipeline is unchanged", "rest unchanged"; whatever the rest is of
  {
    pattern: new RegExp(`^(?:the )?(?:rest|remainder)(?: of [\\w' ]{1,60}?)??${TAIL}$`),
    strength: 'plain',
  },
  // "rest of the code"
  {
    pattern: new RegExp(`^(?:the )?(?:rest|remainder) of ${DETERMINER}${KIND}?${CODE}$`),
    strength: 'plain',
  },
  // "existing code", "remaining code stays the same", "original preprocessing code here"
  { pattern: new RegExp(`^${DETERMINER}${KIND}(?:\\w+ ){0,3}?${CODE}${TAIL}?$`), strength: 'plain' },
  // "other steps remain unchanged": anything that is said to stay
  { pattern: new RegExp(`^${DETERMINER}${KIND}[\\w ]{1,40}? ${VERB} ${STATE}$`), strength: 'likely' },
  // "code omitted", "code remains the same", "everything else unchanged"
  {
    pattern: new RegExp(`^${DETERMINER}(?:${CODE}|everything(?: else)?|all else)${TAIL}$`),
    strength: 'plain',
  },
  // "your code here", "add your code here", "implementation goes here"
  {
    pattern: new RegExp(
      `^(?:add |put |insert |write |paste )?(?:your|the|rest of the) (?:\\w+ )?${CODE} (?:goes )?here$`,
    ),
    strength: 'plain',
  },
  // "same as before", "unchanged", "no changes", "as above"
  {
    pattern: new RegExp(`^(?:${STATE}|no changes?(?: (?:here|needed|required|below))?|etc)$`),
    strength: 'likely',
  },
  // "todo: implement the rest"
  {
    pattern: /^(?:todo|fixme)\b.*\b(?:implement|rest|remaining|fill|complete|code|add|write|finish)\b/,
    strength: 'plain',
  },
];

/** Judges the text of a comment by its words and marks alone; null for one that only describes something. */
export function placeholderStrength(comment: string): PlaceholderStrength | null {
  // Longer than any placeholder; and the patterns need not be tried on it.
  if (comment.length > 160) return null;
  const text = comment.replace(/^[#\s]+/, '').trim();
  const words = text
    .toLowerCase()
    .replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
    .replace(/[^\p{L}\p{N}_']+/gu, ' ');
  if (words === '') return ELLIPSIS.test(text) ? 'marked' : null;
  const phrase = PHRASES.find(({ pattern }) => pattern.test(words));
  const isMarked = ELLIPSIS.test(text) || /^[([{<].*[)\]}>]$/.test(text);
  if (phrase !== undefined) return isMarked ? 'marked' : phrase.strength;
  // "... load the data ..." leaves something out; "Loading the data..." does not.
  if (!/^(?:\.{3}|…)/.test(text)) return null;
  return /(?:\.{3}|…)$/.test(text) ? 'plain' : 'likely';
}
