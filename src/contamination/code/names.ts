import { JAVASCRIPT_ATTRIBUTES, JAVASCRIPT_BUILTINS, JAVASCRIPT_KEYWORDS } from './javascript-words.js';
import { PYTHON_ATTRIBUTES, PYTHON_BUILTINS } from './python-words.js';
import { type Statement, TOP } from './statement.js';
import { type CodeLanguage, type Token, TokenKind } from './token.js';

interface Vocabulary {
  readonly builtins: ReadonlySet<string>;
  readonly attributes: ReadonlySet<string>;
}

const NOTHING: ReadonlySet<string> = new Set();
const VOCABULARIES: Record<CodeLanguage, Vocabulary> = {
  python: { builtins: PYTHON_BUILTINS, attributes: PYTHON_ATTRIBUTES },
  javascript: {
    builtins: new Set([...JAVASCRIPT_BUILTINS, ...JAVASCRIPT_KEYWORDS]),
    attributes: JAVASCRIPT_ATTRIBUTES,
  },
  generic: { builtins: NOTHING, attributes: NOTHING },
};

/** The owner of attributes and methods. */
export const ATTRIBUTE = -2;

/**
 * Tells which names of a program its author chose, and which of them are the same: a name is known by the
 * function that binds it, so that `i` in two functions is two variables. Attributes and methods of the
 * author's own are known by their name alone.
 */
export class NameTable {
  readonly #statements: readonly Statement[];
  /** Functions, methods and attributes of the program's own, whatever the language calls by that name. */
  readonly #defined = new Set<string>();
  readonly #bound = new Map<number, Set<string>>();
  readonly #numbers = new Map<string, number>();
  readonly #vocabulary: Vocabulary;
  readonly names: string[] = [];
  /** For each variable the header of the function that binds it, `TOP`, or `ATTRIBUTE`. */
  readonly owners: number[] = [];

  constructor(statements: readonly Statement[], language: CodeLanguage) {
    this.#statements = statements;

    this.#vocabulary = VOCABULARIES[language];
    statements.forEach((statement, index) => {
      this.#bind(statement, index);
    });
  }

  /** Number of the variable that the token names; undefined for names that the language or a library gives. */
  variableAt(statement: Statement, index: number, at: number): number | undefined {
    const { tokens } = statement;
    const { text } = tokens[at] as Token;
    const before = tokens[at - 1]?.text;
    if (before === '.' || before === '?.') {
      const isOwn = OBJECT_ITSELF.has(tokens[at - 2]?.text ?? '') || this.#defined.has(text);
      const isOfTheLanguage = this.#vocabulary.attributes.has(text) && !isOwn;
      return isOfTheLanguage ? undefined : this.#number(ATTRIBUTE, text);
    }
    if (this.#vocabulary.builtins.has(text) && !this.#defined.has(text)) return undefined;
    const isKey = tokens[at + 1]?.text === ':' && (before === '{' || before === ',');
    const isArgumentName = tokens[at + 1]?.text === '=' && (before === '(' || before === ',') && at > 2;
    if ((isKey || isArgumentName) && statement.role === 'plain') return this.#number(ATTRIBUTE, text);
    const scope = isParameterPosition(statement, at) ? index : statement.scope;
    return this.#number(this.#owner(scope, text), text);
  }

  #number(owner: number, text: string): number {
    const key = `${owner}:${text}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.names.length;
      this.#numbers.set(key, number);
      this.names.push(text);
      this.owners.push(owner);
    }
    return number;
  }

  #owner(scope: number, text: string): number {
    for (let at = scope; at !== TOP; at = this.#statements[at]?.scope ?? TOP) {
      if (this.#bound.get(at)?.has(text) === true) return at;
    }
    return TOP;
  }

  #bind(statement: Statement, index: number): void {
    const { role, tokens, scope } = statement;
    if (role === 'define') {
      const name = definedName(statement);
      if (name !== undefined && !NEVER_RENAMED.test(name)) this.#defined.add(name);
      tokens.forEach((token, at) => {
        if (token.kind === TokenKind.name && isParameterPosition(statement, at)) this.#add(index, token.text);
      });
    }
    tokens.forEach((token, at) => {
      if (tokens[at - 1]?.text === '.' && OBJECT_ITSELF.has(tokens[at - 2]?.text ?? ''))
        this.#defined.add(token.text);
    });
    for (const name of boundNames(statement)) {
      if (this.#owner(scope, name) === TOP) this.#add(scope, name);
    }
  }

  #add(scope: number, name: string): void {
    const names = this.#bound.get(scope);
    if (names === undefined) this.#bound.set(scope, new Set([name]));
    else names.add(name);
  }
}

/** What comes before the dot of an attribute of the author's own. */
const OBJECT_ITSELF: ReadonlySet<string> = new Set(['self', 'cls', 'this']);

/** Names by which the language itself calls a function. */
const NEVER_RENAMED = /^(?:__\w+__|constructor|main)$/;

/** `f` of `f(a)`, `function f(a)`, `f = function(a)`, `f = (a) =>`; undefined for a function without a name. */
function definedName({ tokens }: Statement): string | undefined {
  const [first, second, third] = tokens;
  const name = first?.text === 'function' && second?.kind === TokenKind.name ? second : first;
  if (name?.kind !== TokenKind.name) return undefined;
  const next = name === first ? second : third;
  return next?.text === '(' || next?.text === '=' ? name.text : undefined;
}

/** Whether a name of a function's header is among its parameters (and is not a default value's call). */
function isParameterPosition(statement: Statement, at: number): boolean {
  if (statement.role !== 'define') return false;
  const before = statement.tokens[at - 1]?.text;
  const after = statement.tokens[at + 1]?.text;
  if (before === '.' || before === '=' || after === '(' || after === '.') return false;
  if (before === '(' || before === ',' || before === '*' || before === '**' || before === '...') return true;
  return after === '=>' || before === '{' || before === '[';
}

/** Names that a statement, or a loop or lambda in it, assigns. */
export function boundNames(statement: Statement): string[] {
  const { role, tokens } = statement;
  if (role === 'each') {
    const within = tokens.findIndex((token) => token.text === 'in');
    return simpleNames(tokens.slice(0, Math.max(0, within)));
  }
  const names = role === 'plain' ? simpleNames(tokens.slice(0, assignmentAt(tokens))) : [];
  tokens.forEach((token, at) => {
    const previous = tokens[at - 1]?.text;
    const binds =
      previous === 'for' || previous === 'as' || previous === 'lambda' || tokens[at + 1]?.text === '=>';
    if (token.kind === TokenKind.name && binds) names.push(token.text);
  });
  return names;
}

/** Where the first assignment sign outside brackets is; 0 without one. */
function assignmentAt(tokens: readonly Token[]): number {
  let depth = 0;
  for (let i = 0; i < tokens.length; i++) {
    const { kind, text } = tokens[i] as Token;
    if (kind !== TokenKind.operator) continue;
    if ('([{'.includes(text)) depth += 1;
    else if (')]}'.includes(text)) depth -= 1;
    else if (depth === 0 && text === '=') return i;
  }
  return 0;
}

/** Names on their own: not an attribute, not called, not indexed. */
function simpleNames(tokens: readonly Token[]): string[] {
  const names: string[] = [];
  tokens.forEach((token, at) => {
    if (token.kind !== TokenKind.name) return;
    const before = tokens[at - 1]?.text;
    const after = tokens[at + 1]?.text;
    if (before === '.' || after === '.' || after === '[' || after === '(') return;
    names.push(token.text);
  });
  return names;
}
