import { pick, type Random } from './corpus.js';

const RESERVED: Record<'python' | 'javascript', ReadonlySet<string>> = {
  python: new Set(
    `False None True and as assert async await break class continue def del elif else except finally for from global
    if import in is lambda nonlocal not or pass raise return try while with yield self cls super print range len int
    str float bool list dict set tuple enumerate zip map filter sorted reversed sum min max abs all any ord chr round
    open isinstance object type staticmethod property next iter divmod pow ValueError KeyError TypeError SyntaxError
    heapq collections math re numpy np pandas pd sklearn torch nn optim datasets transforms csv string random time
    itertools functools threading bisect scipy stats argparse lightgbm lgb xgboost xgb Counter defaultdict deque
    OrderedDict lru_cache cache groupby heappush heappop bisect_left insort wraps RLock Lock chain zip_longest exp log
    train_test_split KFold StratifiedKFold cross_val_score make_pipeline SimpleImputer RandomForestRegressor
    mean_squared_error GradientBoostingRegressor LabelEncoder ColumnTransformer Ridge OneHotEncoder StandardScaler
    TfidfVectorizer LogisticRegression f1_score DataLoader roc_auc_score HistGradientBoostingClassifier torchvision
    F data functional utils main __name__ key reverse newline default float64`.split(/\s+/),
  ),
  javascript: new Set(
    `break case catch class const continue debugger default delete do else export extends false finally for function
    if import in instanceof let new null of return static super switch this throw true try typeof undefined var void
    while with yield async await get set interface type enum private public protected readonly as keyof is constructor
    Array Object String Number Boolean Symbol BigInt Map Set WeakMap Date RegExp Math JSON Promise Reflect Error
    TypeError Infinity NaN parseInt console module exports require arguments prototype string number boolean unknown
    void any never Record URLSearchParams decodeURIComponent encodeURIComponent test exec`.split(/\s+/),
  ),
};

const SYLLABLES = ['ka', 'lor', 'ven', 'ti', 'mo', 'sar', 'qui', 'den', 'pol', 'ra', 'bex', 'nu'];

/** Gives every name that the program binds another one, everywhere the same; names after a dot stay. */
export function renameWords(text: string, language: 'python' | 'javascript', random: Random): string {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const bound = boundNames(text, language);
  const attributes = new Set([...text.matchAll(/(?<!\.)\.(\w+)/g)].map((match) => match[1]));
  const pattern =
    language === 'python'
      ? /("""[\s\S]*?"""|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|#[^\n]*)|(?<![\w.])([A-Za-z_]\w*)/g
      : /(`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?:(?<![\w.#$])|(?<=\.\.\.))([A-Za-z_$][\w$]*)/g;
  const other = (name: string): string => {
    if (RESERVED[language].has(name) || !bound.has(name) || attributes.has(name)) return name;
    let found = names.get(name);
    while (found === undefined || (taken.has(found) && names.get(name) !== found)) {
      found = `${pick(random, SYLLABLES)}${pick(random, SYLLABLES)}${random() < 0.4 ? `_${pick(random, SYLLABLES)}` : ''}`;
    }
    names.set(name, found);
    taken.add(found);
    return found;
  };
  const rename = (part: string): string =>
    part.replace(
      pattern,
      (whole: string, quoted: string | undefined, name: string | undefined, at: number) => {
        if (quoted?.startsWith('`'))
          return quoted.replace(/\$\{([^}]*)\}/g, (_, inner: string) => `\${${rename(inner)}}`);
        if (quoted !== undefined || name === undefined) return whole;
        const isKey =
          language === 'javascript' &&
          /^\s*:/.test(part.slice(at + whole.length)) &&
          /[{,]\s*$/.test(part.slice(0, at));
        return isKey ? whole : other(name);
      },
    );
  return rename(text);
}

function boundNames(text: string, language: 'python' | 'javascript'): Set<string> {
  const bound = new Set<string>();
  const bare = text
    .replace(/"""[\s\S]*?"""/g, '')
    .replace(/`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, '""');
  const add = (list: string): void => {
    for (const name of list.match(/(?<![\w.])[A-Za-z_$][\w$]*/g) ?? []) bound.add(name);
  };
  if (language === 'python') {
    for (const match of bare.matchAll(/^\s*(?:async )?def (\w+)\(([^)]*)\)/gm))
      add(`${match[1]} ${(match[2] ?? '').replace(/[:=][^,]*/g, '')}`);
    for (const match of bare.matchAll(/^\s*((?:\w+, )*\w+) [-+*/]?= /gm)) add(match[1] ?? '');
    for (const match of bare.matchAll(/\bfor ((?:\(?\w+\)?, )*\(?\w+\)?) in\b/g)) add(match[1] ?? '');
    for (const match of bare.matchAll(/\bas (\w+):|\blambda (\w+):|\bclass (\w+)/g))
      add(match.slice(1).join(' '));
    return bound;
  }
  for (const match of bare.matchAll(/\b(?:const|let|var|function|class) ([\w$]+|\[[^\]]*\])/g))
    add(match[1] ?? '');
  for (const match of bare.matchAll(/\(([\w$, ]*)\) (?:=>|\{)/g)) add(match[1] ?? '');
  for (const match of bare.matchAll(/(?<![\w.])([\w$]+) =>/g)) add(match[1] ?? '');
  return bound;
}
