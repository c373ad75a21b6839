/** Words that the project no longer uses, and the field's term for each. Add a word here when its last use is gone. */
export interface OldWord {
  /** A regular expression over words in lower case, with one space between them: `statusColour` is `status colour`. */
  readonly old: string;
  readonly use: string;
  /** `names`: identifiers only. `prose`: comments, strings of `src` and documents only. Both unless it says otherwise. */
  readonly in?: 'names' | 'prose';
  /** The only folder in which the word is an old one; another folder needs another entry. */
  readonly at?: string;
}

/** American spelling. `cancelled` is a state of the API, so that word has two l everywhere. */
const SPELLING: readonly OldWord[] = [
  ['colour\\w*', 'color'],
  ['behaviour\\w*', 'behavior'],
  ['flavour\\w*', 'flavor'],
  ['honour\\w*', 'honor'],
  ['favour\\w*', 'favor'],
  ['neighbour\\w*', 'neighbor'],
  ['analys(?:e|ed|ing)', 'analyze'],
  ['licen[c]es?', 'license'],
  ['centre[sd]?', 'center'],
  ['litres?', 'liter'],
  ['(?:un|mis|re)?labell\\w+', 'labeled'],
  ['levell\\w+', 'leveled'],
  ['judgements?', 'judgment'],
  ['learnt', 'learned'],
  ['misspelt', 'misspelled'],
  ['grey', 'gray'],
  ['towards', 'toward'],
  ['unauthoris\\w+', 'unauthorized'],
  [
    '(?:real|recogn|normal|standard|neutral|optim|minim|maxim|random|general|special|summar|regular|vector|lemmat|factor|amort|winsor|serial|initial|organ|author|token|final|util|custom|categor|emphas|sanit|capital|priorit|memor|synchron|visual)is(?:e|ed|es|er|ers|ing|ation|ations)',
    '-ize',
  ],
].map(([old = '', use = '']) => ({ old, use }));

export const OLD_WORDS: readonly OldWord[] = [
  { old: '(?:most|longest|largest) (?:[a-z]+ )*[a-z]+ constant', use: 'MAX_', in: 'names' },
  {
    old: '(?:least|fewest|shortest|smallest) (?:[a-z]+ )*[a-z]+ constant',
    use: 'MIN_',
    in: 'names',
  },
  { old: '(?:move|split|is|read|statements) behind(?: [a-z]+)*', use: 'after', in: 'names' },
  {
    old: '(?:stands?|stood|moves?|moved|comes?|goes|lies?|runs|lines|text|blanks|digits|words|right) behind',
    use: 'after',
  },
  {
    old: 'behind (?:it|them|each|the (?:split|block|fit|score|name|folds|loop|last))',
    use: 'after',
    in: 'prose',
  },
  { old: 'check figures|borne out', use: 'find unsupported numbers, supported' },
  { old: 'beside module', use: 'sibling module url', in: 'names' },
  {
    old: 'judg(?:e[ds]?|ing)',
    use: 'check, classify, validate, evaluate',
    in: 'names',
  },
  {
    old: 'judg(?:e[ds]|ing)',
    use: 'checked',
    in: 'prose',
  },
  {
    old: '(?:convict|accus|guilt)\\w*',
    use: 'flag, false positive',
  },
  { old: 'proof factors?', use: 'weights, fraction', in: 'names' },
  { old: '(?:do|does|did) not stands?', use: 'is not' },
  {
    old: 'stands (?:in|among|before|beside|under|between|above|below|inside|once|twice|on|near|at|as|where|there)(?! for)',
    use: 'is, occurs, comes',
  },
  { old: 'refuse (?:[a-z]+ )*[a-z]+', use: 'assert, reject', in: 'names' },
  { old: 'given', use: 'input, args', in: 'names' },
  {
    old: '(?:as|as it was|is|are|was|were|be|been) given|verdicts? given|given verdicts?',
    use: 'original, passed, assigned',
    in: 'prose',
  },
  { old: '(?<!\\bin )places?', use: 'location, position, occurrence, slot', in: 'names' },
  { old: '(?<!\\bin )places?', use: 'location, position, occurrence, slot', in: 'prose', at: 'src/' },
  {
    old: 'in (?:its|their|the) places?|takes? (?:its|their|the) places?|places? (?:free|of the)',
    use: 'instead of, replaces, slots',
    in: 'prose',
  },
  { old: '(?<!water )(?:un)?mark(?:s|ed)?', use: 'tag, flag, prefix, marker', in: 'names' },
  { old: 'apart', use: 'isolated, disjoint, separate', in: 'names' },
  {
    old: '(?:told|tells?|taken?|taking|sets?|pulls?|stands?) (?:[a-z]+ )?apart|apart from',
    use: 'distinguished, unpacked, separate, except for',
    in: 'prose',
  },
  { old: '(?:stands?|stood|standing)', use: 'is, represents', in: 'names' },
  { old: '(?:stands?|stood)(?! (?:for|in|out))', use: 'is, occurs, was', in: 'prose' },
  { old: 'verdicts?', use: 'result, status, finding', in: 'names' },
  { old: 'verdicts?', use: 'result, status, finding', in: 'prose', at: 'src/solution/' },
  {
    old: 'questions?|reask\\w*|asked|asking|ask (?!agents|options)(?:[a-z]+ )*[a-z]+',
    use: 'request, retry',
    in: 'names',
    at: 'src/',
  },
  { old: 'questions?', use: 'request, step', in: 'prose', at: 'src/' },
  {
    old: '(?:[a-z]+ )?kept(?! (?:alone|since|until))',
    use: 'stored, cached, remaining, TTL',
    in: 'names',
    at: 'src/',
  },
  { old: '(?<!front )(?:shares?|matters?)', use: 'fraction, weight, quota, reservation', in: 'names' },
  { old: 'bar for [a-z]+', use: 'threshold', in: 'names' },
  { old: '(?<!plot )figures?', use: 'number, detail', in: 'names' },
  {
    old: 'gates?|gated|stamps?|sheets?|tell also',
    use: 'interceptor, provenance, extension',
    in: 'names',
    at: 'src/',
  },
  { old: 'takeovers?|deaths?|ramps?', use: 'stalled count, crash, slow start', in: 'names', at: 'src/' },
  { old: '(?<!in )flights?', use: 'call in flight', in: 'names', at: 'src/' },
  { old: 'but for', use: 'except for', in: 'prose' },
  { old: 'anew', use: 'again' },
  { old: 'reckon\\w*', use: 'compute' },
  { old: 'machine', use: 'interpreter', in: 'names', at: 'src/leakage/' },
  { old: 'show dead|drop dead', use: 'get dead letter, discard dead letters', in: 'names' },
  { old: 'unknown usd', use: 'in doubt', in: 'names' },
  { old: 'fleet connection', use: 'fleet client' },
  { old: 'unwell', use: 'unhealthy' },
  { old: 'guilty|proof against|forgive\\w*', use: 'crash marker' },
  { old: 'suspects?', use: 'poison pill', in: 'names' },
  { old: 'closed until|closes model', use: 'blocked until, open circuit', in: 'names' },
  { old: 'quarantine\\w*', use: 'isolated process' },
  { old: 'run marks', use: 'job flags', in: 'names' },
  { old: 'turn (?:queue|taker|request|option)s?|take turns?', use: 'fair queueing, schedule', in: 'names' },
  { old: '(?:takes?|taking|took) (?:its |their )?turns?', use: 'is scheduled, in rotation', in: 'prose' },
  { old: 'doors?', use: 'entry point, API' },
  { old: 'whoever', use: 'a user who, callers that', in: 'prose' },
  { old: 'tells whether', use: 'returns whether', in: 'prose' },
  { old: 'for ever', use: 'forever, permanently', in: 'prose' },
  { old: 'stored apart', use: 'stored separately' },
  { old: 'own queues?', use: 'pipeline queue', in: 'names' },
  { old: 'job marks|mark cancelled|unmark cancelled', use: 'job flags', in: 'names' },
  {
    old: 'held(?! out)|holders?',
    use: 'locked, owner, buffered',
    in: 'names',
  },
  { old: 'books?|booked', use: 'account, reserved' },
  { old: 'told|let go', use: 'called, stop', in: 'names' },
  { old: 'patience|farewell', use: 'timeout, grace', in: 'names' },
  { old: 'placing|placements?|unplaced', use: 'scheduling', in: 'names' },
  { old: '(?:runs?|kept|keeps?) apart', use: 'isolated, separate' },
  { old: 'sendings', use: 'sends' },
  { old: '(?:stay|turned) away', use: 'cooldown, rejected', in: 'names' },
  ...SPELLING,
];

/** A use that is right, where it is right. Each entry must still be needed. */
export interface Allowed {
  /** Path of a file, or of a folder with a slash at its end; '' is everywhere. */
  readonly at: string;
  /** The text that was found, as `OldWord.old` reads it. */
  readonly found: string;
  readonly reason: string;
}

export const ALLOWED: readonly Allowed[] = [
  {
    at: 'src/config/setting-names.ts',
    found: 'unwell',
    reason: 'the old name of a setting, to name the new one',
  },
  { at: 'bench/report/', found: 'mark', reason: 'a mark of the package @observablehq/plot' },
  { at: 'bench/report/', found: 'marks', reason: 'the marks of a plot of that package' },
  { at: 'src/agents/conversation.ts', found: 'question', reason: 'a message to the model' },
  { at: 'src/gateway/pages/', found: 'labelledby', reason: 'the attribute aria-labelledby of HTML' },
  { at: 'scripts/regexps/growth.ts', found: 'analyse', reason: 'a function of the package scslre' },
];
