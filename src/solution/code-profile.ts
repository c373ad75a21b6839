import { isForbidden, SCORES } from './correction-rules.js';
import { parsePython, type SyntaxCursor, type SyntaxNode } from './python-syntax.js';

/** Escapes of a literal that can stand for the signs of an address or a name. No name of a sign has 100 characters. */
const ESCAPE =
  /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|N\{([^{}\\]{1,100})\}|\r?\n)/g;

/** The text of a string literal as Python reads it, except for escapes of single signs. Those by name stand for a slash. */
function decoded(literal: string): string {
  return literal.replace(
    ESCAPE,
    (whole, x?: string, u?: string, long?: string, octal?: string, name?: string) => {
      const code = x ?? u ?? long;
      if (code !== undefined) return signOf(parseInt(code, 16), whole);
      if (octal !== undefined) return signOf(parseInt(octal, 8), whole);
      return name === undefined ? '' : '/';
    },
  );
}

function signOf(code: number, otherwise: string): string {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : otherwise;
}

/** A local variable's attribute, item or call in the text of a query. */
const REACHES = /@\s*\w+\s*[.([]|__/;

/**
 * Whether `name` is that of a call `table.query("…")` whose text is a literal that reaches no attribute of a variable and
 * calls nothing forbidden: pandas evaluates it.
 */
function isPlainQuery(name: SyntaxNode): boolean {
  const call = name.parent?.parent;
  if (call?.type !== 'call' || call.childForFieldName('function')?.id !== name.parent?.id) return false;
  const text = call.childForFieldName('arguments')?.firstNamedChild;
  if (text?.type !== 'string' || text.descendantsOfType('interpolation').length > 0) return false;
  const plain = decoded(text.text);
  return (
    !REACHES.test(plain) && !(plain.match(/\.\s*\w+/g) ?? []).some((at) => isForbidden(at.replace(/\s/g, '')))
  );
}

/** What a script does, as far as names tell: counted, so that two versions of it can be compared. */
export interface CodeProfile {
  /** How often each name occurs: `name` for a variable, `.name` for an attribute. */
  readonly names: ReadonlyMap<string, number>;
  /** Names that are called by themselves, as in `name(…)`. */
  readonly called: ReadonlySet<string>;
  /** Names that occur anywhere but as a call or an attribute: whatever binds a name is among them. */
  readonly mentioned: ReadonlySet<string>;
  /** First words of imported modules; `.` for one of the script's own package. */
  readonly imports: ReadonlySet<string>;
  readonly importsAll: boolean;
  /** Other names of what is imported: `sp` for `subprocess`, `run` for `system`. */
  readonly aliases: ReadonlyMap<string, readonly string[]>;
  /** Texts of string literals, or parts of them, as Python reads them. */
  readonly strings: ReadonlySet<string>;
  /** Those of them that hold an address. */
  readonly addresses: ReadonlySet<string>;
  /** Uses of `query`, which evaluates its text, but with a literal that calls nothing. */
  readonly unclearQueries: number;
  /** Attributes that are assigned to, as `.score` in `model.score = …`. */
  readonly assigned: ReadonlySet<string>;
  /** Statements that compute or print a score. */
  readonly scoring: readonly string[];
  /** Names and literals outside of imports, and how often they occur. */
  readonly words: ReadonlyMap<string, number>;
  /** How many calls of `print` speak of a score. */
  readonly scorePrints: number;
  /** How many calls of `print` print a number that is written into them and may pass for a score, and nothing that is computed. */
  readonly fixedPrints: number;
  /** Where statements begin, in order. */
  readonly statements: readonly number[];
}

const SCORE = /perform|score|metric|accura|error|loss|auc|rms|ma[ep]|mse|f1|r2|logl/i;
const ADDRESS = /:\/\/|^\/\/|^\\\\/;
/** Nodes whose children are statements. */
const SUITES: ReadonlySet<string> = new Set(['module', 'block']);
/** How much of a statement is kept: of one with a body, the beginning. */
const MAX_SCORING = 300;
const WORDS: ReadonlySet<string> = new Set(['identifier', 'integer', 'float', 'string_content']);
const IMPORTS: ReadonlySet<string> = new Set([
  'import_statement',
  'import_from_statement',
  'future_import_statement',
]);

export async function profileOf(source: string): Promise<CodeProfile> {
  const tree = await parsePython(source);
  try {
    return read(tree.walk());
  } finally {
    tree.delete();
  }
}

function read(cursor: SyntaxCursor): CodeProfile {
  const names = new Map<string, number>();
  const called = new Set<string>();
  const mentioned = new Set<string>();
  const imports = new Set<string>();
  const aliases = new Map<string, readonly string[]>();
  const strings = new Set<string>();
  const addresses = new Set<string>();
  const assigned = new Set<string>();
  const scoring = new Set<string>();
  const words = new Map<string, number>();
  let unclearQueries = 0;
  let statement: SyntaxNode | undefined;
  let lastScoring: SyntaxNode | undefined;
  const statements: number[] = [];
  let importsAll = false;
  let scorePrints = 0;
  let fixedPrints = 0;
  const parents: string[] = [];
  const fields: (string | null)[] = [];
  const visit = () => {
    const { nodeType: type } = cursor;
    if (SUITES.has(parents.at(-1) ?? '') && cursor.nodeIsNamed && type !== 'comment') {
      statements.push(cursor.startIndex);
      statement = cursor.currentNode;
    }
    if (WORDS.has(type) && !IMPORTS.has(statement?.type ?? '')) {
      const word = cursor.currentNode.text;
      words.set(word, (words.get(word) ?? 0) + 1);
    }
    if (type === 'identifier') {
      const name = nameOf(cursor);
      if (name === undefined) return;
      names.set(name, (names.get(name) ?? 0) + 1);
      if (name === '.query' && !isPlainQuery(cursor.currentNode)) unclearQueries += 1;
      if (name.startsWith('.') && isAssigned(parents, fields)) assigned.add(name);
      if (cursor.currentFieldName === 'function') called.add(name);
      else if (!name.startsWith('.')) mentioned.add(name);
    } else if (type === 'call') {
      if (isPrint(cursor) && printsFixedNumber(cursor)) fixedPrints += 1;
      const printsScore = isPrint(cursor) && SCORE.test(cursor.currentNode.text);
      if (printsScore) scorePrints += 1;
      // Once for each statement: a long one may hold thousands.
      if (statement !== lastScoring && (printsScore || callsScore(cursor))) {
        lastScoring = statement;
        if (statement !== undefined) scoring.add(statement.text.slice(0, MAX_SCORING));
      }
    } else if (type === 'wildcard_import') importsAll = true;
    else if (type === 'relative_import') imports.add('.');
    else if (type === 'dotted_name' && importsModule(cursor, parents)) {
      imports.add((cursor.currentNode.text.split('.')[0] ?? '').trim().normalize('NFKC'));
    } else if (type === 'import_statement' || type === 'import_from_statement') {
      for (const [alias, origin] of aliasesOf(cursor.currentNode)) aliases.set(alias, origin);
    } else if (type === 'string_content') {
      const text = decoded(cursor.currentNode.text);
      strings.add(text);
      if (ADDRESS.test(text)) addresses.add(text);
    }
  };
  for (;;) {
    visit();
    const { nodeType, currentFieldName } = cursor;
    if (cursor.gotoFirstChild()) {
      parents.push(nodeType);
      fields.push(currentFieldName);
      continue;
    }
    while (!cursor.gotoNextSibling()) {
      if (!cursor.gotoParent()) {
        cursor.delete();
        return {
          ...{ names, called, mentioned, imports, importsAll, aliases, strings, addresses, unclearQueries },
          ...{ assigned, scoring: [...scoring], words, scorePrints, fixedPrints, statements },
        };
      }
      parents.pop();
      fields.pop();
    }
  }
}

/**
 * The name of an identifier as Python reads it. `os.path` computes on texts alone, and `model.eval()` evaluates no code: for
 * these there is none.
 */
function nameOf(cursor: SyntaxCursor): string | undefined {
  const name = cursor.currentNode.text.normalize('NFKC');
  if (cursor.currentFieldName === 'attribute') {
    return name === 'eval' && hasNoArguments(cursor) ? undefined : `.${name}`;
  }
  const isPath = name === 'os' && cursor.currentNode.parent?.childForFieldName('attribute')?.text === 'path';
  return isPath ? undefined : name;
}

function isPrint(cursor: SyntaxCursor): boolean {
  return cursor.currentNode.childForFieldName('function')?.text === 'print';
}

/** A number that may be a score: a fraction, or one that is alone; `"=" * 60` draws a line. */
const FIXED_NUMBER = /\d\.\d|^\([^\w*]*\d+[^\w*]*\)$/;
/** A number that is not part of a word, as `F1` and `R2` are. */
const NUMBER = /\W\d/;

/** Whether a call's arguments hold a number that may pass for a score, and no name. */
function printsFixedNumber(cursor: SyntaxCursor): boolean {
  const args = cursor.currentNode.childForFieldName('arguments');
  if (args === null) return false;
  const { text } = args;
  const named = text.search(SCORE);
  if (!FIXED_NUMBER.test(text) && (named < 0 || !NUMBER.test(text.slice(named)))) return false;
  const values = args.namedChildren.map((each) =>
    each?.type === 'keyword_argument' ? each.childForFieldName('value') : each,
  );
  return values.every((each) => each === null || each.descendantsOfType('identifier').length === 0);
}

function callsScore(cursor: SyntaxCursor): boolean {
  const called = cursor.currentNode.childForFieldName('function');
  return SCORES.test((called?.childForFieldName('attribute') ?? called)?.text ?? '');
}

/** Whether an attribute's name is that of `a.name = …`. */
function isAssigned(parents: readonly string[], fields: readonly (string | null)[]): boolean {
  return parents.at(-1) === 'attribute' && fields.at(-1) === 'left' && parents.at(-2) === 'assignment';
}

function hasNoArguments(cursor: SyntaxCursor): boolean {
  const call = cursor.currentNode.parent?.parent;
  return call?.type === 'call' && call.childForFieldName('arguments')?.namedChildren.length === 0;
}

/** `import a.b`, `import a.b as c`, and the module of `from a.b import c`. */
function importsModule(cursor: SyntaxCursor, parents: readonly string[]): boolean {
  const parent = parents.at(-1);
  if (parent === 'import_from_statement') return cursor.currentFieldName === 'module_name';
  return (
    parent === 'import_statement' || (parent === 'aliased_import' && parents.at(-2) === 'import_statement')
  );
}

/** Names that an import binds, with the words of what they stand for. */
function aliasesOf(statement: SyntaxNode): [string, readonly string[]][] {
  const module = statement.childForFieldName('module_name')?.text.split('.') ?? [];
  // `os.path` computes on texts alone.
  if (module.join('.') === 'os.path') return [];
  return statement.childrenForFieldName('name').map((name) => {
    const alias = name.childForFieldName('alias')?.text;
    const words = (name.childForFieldName('name') ?? name).text.split('.');
    const bound = alias ?? (module.length === 0 ? words[0] : words.at(-1)) ?? '';
    const origin = [...module, ...words].map((word) => word.trim().normalize('NFKC'));
    return [bound.normalize('NFKC'), origin.join('.') === 'os.path' ? [] : origin];
  });
}
