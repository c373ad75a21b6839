import { JAVASCRIPT_MODIFIERS } from './javascript-words.js';
import { type Statement, type StatementRole, TOP } from './statement.js';
import { type Token, TokenKind } from './token.js';

type FrameKind = 'block' | 'class' | 'paren' | 'object';

interface Frame {
  readonly kind: FrameKind;
  readonly parent: number;
  readonly scope: number;
  /** For a parenthesis: the control word whose condition it holds. */
  readonly control?: string | undefined;
  /** For the block of a counting loop: what is done after every round. */
  readonly steps?: readonly Token[][];
}

const CONTROL = new Map<string, StatementRole>([
  ['if', 'branch'],
  ['while', 'loop'],
  ['for', 'loop'],
  ['switch', 'branch'],
  ['with', 'context'],
  ['catch', 'context'],
]);
const BARE_HEADERS = new Set(['else', 'do', 'try', 'finally']);
const DECLARATIONS = new Set(['let', 'const', 'var']);
const VALUE_WORDS = new Set(['this', 'null', 'true', 'false', 'super', 'undefined']);
const LEFT_OVER = new Set([')', ']', '}', ',', ';']);
const OPENS_CONTINUATION = /^(?:[.?:;,)\]}=*/%&|^<>(]|\[|=>|\+(?!\+)|-(?!-)|!=)/;
/** Words that begin a statement, so that what comes before them is over. */
const STARTING_WORDS = new Set([
  ...['const', 'let', 'var', 'if', 'for', 'while', 'return', 'throw', 'try', 'switch', 'break', 'continue'],
  ...['type', 'interface', 'private', 'public', 'protected', 'static', 'readonly', 'export', 'import'],
]);
/** A header of a function or class has fewer tokens than this. */
const MAX_HEADER_LENGTH = 300;
const TOP_LEVEL_WORDS = new Set([
  'const',
  'let',
  'var',
  'function',
  'class',
  'export',
  'import',
  'interface',
  'type',
]);
const CONTINUING_WORDS = new Set(['instanceof', 'in', 'of', 'as', 'satisfies']);

/**
 * Splits the tokens of a JavaScript or TypeScript text into statements, without a grammar: so a text that is
 * cut off, or not quite JavaScript, is split as far as it goes. `for (a; b; c)` becomes `a`, a loop on `b`,
 * and `c` at the end of the loop's block.
 */
export function javascriptStatements(tokens: readonly Token[]): Statement[] {
  return new JavaScriptSplitter().split(tokens);
}

class JavaScriptSplitter {
  readonly #statements: Statement[] = [];
  readonly #frames: Frame[] = [{ kind: 'block', parent: TOP, scope: TOP }];
  #line: Token[] = [];
  /** Header of a control statement whose body has not begun. */
  #pending: number | undefined;
  #forParts: Token[][] = [];
  /** Steps of a counting loop whose body has not begun. */
  #steps: readonly Token[][] = [];

  split(tokens: readonly Token[]): Statement[] {
    for (const token of tokens) this.#take(token);
    this.#flush();
    return this.#statements;
  }

  get #frame(): Frame {
    return this.#frames[this.#frames.length - 1] as Frame;
  }

  #take(token: Token): void {
    if (token.atMargin === true && TOP_LEVEL_WORDS.has(token.text) && !this.#inBlock())
      this.#giveUpBrackets();
    if (this.#endsBefore(token)) this.#flush();
    if (token.kind === TokenKind.keyword && this.#line.length === 0) {
      if (BARE_HEADERS.has(token.text) || JAVASCRIPT_MODIFIERS.has(token.text)) return;
    }
    const { text } = token;
    if (token.kind === TokenKind.string) this.#takeString(token);
    else if (token.kind !== TokenKind.operator) this.#line.push(token);
    else if (text === '(' || text === '[') this.#open(token);
    else if (text === '{') this.#openBrace(token);
    else if (text === ')' || text === ']' || text === '}') this.#close(token);
    else if (text === ';') this.#semicolon();
    else if (text === ',' && this.#inBlock() && DECLARATIONS.has(this.#line[0]?.text ?? ''))
      this.#nextDeclarator();
    else if (
      text === ':' &&
      this.#inBlock() &&
      (this.#line[0]?.text === 'case' || this.#line[0]?.text === 'default')
    ) {
      this.#flush();
    } else if (this.#line.length > 0 || !LEFT_OVER.has(text)) this.#line.push(token);
  }

  /** The parts of a template string are around its expressions like brackets. */
  #takeString(token: Token): void {
    const opens = token.text.endsWith('${');
    const closes = token.text.startsWith('}');
    if (closes && this.#frames.length > 1 && !this.#inBlock()) this.#frames.pop();
    this.#line.push(token);
    if (opens) this.#push({ kind: 'paren' });
  }

  /** A declaration at the margin inside brackets: they were never closed (the text is cut off there). */
  #giveUpBrackets(): void {
    while (!this.#inBlock()) this.#frames.pop();
    this.#flush();
  }

  #inBlock(): boolean {
    return this.#frame.kind === 'block' || this.#frame.kind === 'class';
  }

  #push(frame: { kind: FrameKind; control?: string | undefined }): void {
    this.#frames.push({ parent: this.#parent(), scope: this.#frame.scope, ...frame });
  }

  #parent(): number {
    return this.#pending ?? this.#frame.parent;
  }

  /** Automatic semicolons: a break ends a statement that could end and cannot go on. */
  #endsBefore(token: Token): boolean {
    if (!token.afterBreak || this.#line.length === 0 || !this.#inBlock()) return false;
    const last = this.#line[this.#line.length - 1] as Token;
    if (token.text === '{' && this.#opensBlock()) return false;
    if (token.kind === TokenKind.keyword && STARTING_WORDS.has(token.text))
      return last.text !== '=' && last.text !== '=>';
    if (token.kind === TokenKind.operator && OPENS_CONTINUATION.test(token.text)) return false;
    if (token.kind === TokenKind.keyword && CONTINUING_WORDS.has(token.text)) return false;
    if (last.kind === TokenKind.keyword) return VALUE_WORDS.has(last.text) || last.text === 'return';
    if (last.kind === TokenKind.operator) return /^(?:\)|\]|\}|\+\+|--)$/.test(last.text);
    return true;
  }

  #open(token: Token): void {
    const first = this.#line[0]?.text;
    const isHeader =
      token.text === '(' &&
      this.#inBlock() &&
      first !== undefined &&
      CONTROL.has(first) &&
      (this.#line.length === 1 || (this.#line.length === 2 && this.#line[1]?.text === 'await'));
    if (isHeader) {
      this.#push({ kind: 'paren', control: first });
      this.#line = [];
      this.#forParts = [];
      return;
    }
    this.#push({ kind: 'paren' });
    this.#line.push(token);
  }

  #openBrace(token: Token): void {
    if (this.#line.length === 0 && this.#inBlock()) {
      const steps = this.#steps;
      this.#frames.push({ kind: 'block', parent: this.#parent(), scope: this.#frame.scope, steps });
      this.#pending = undefined;
      this.#steps = [];
      return;
    }
    if (!this.#opensBlock()) {
      this.#push({ kind: 'object' });
      this.#line.push(token);
      return;
    }
    const isClass = this.#line.some(
      (each) => each.kind === TokenKind.keyword && /^(?:class|interface|enum)$/.test(each.text),
    );
    const before = this.#statements.length;
    this.#flush(isClass ? 'class' : 'define');
    const header = this.#statements.length > before ? this.#statements.length - 1 : this.#parent();
    this.#frames.push({
      kind: isClass ? 'class' : 'block',
      parent: header,
      scope: isClass ? this.#frame.scope : header,
    });
  }

  #opensBlock(): boolean {
    const last = this.#line[this.#line.length - 1];
    if (last?.text === '=>' || last?.text === ')') return true;
    if (this.#line.length > MAX_HEADER_LENGTH) return false;
    const words = this.#line.filter((token) => token.kind === TokenKind.keyword);
    const first = words[0]?.text;
    if (first === 'class' || first === 'interface' || first === 'enum' || first === 'namespace') return true;
    if (last?.text === 'class' || last?.text === 'static') return true;
    if (words.some((token) => token.text === 'class') && last?.kind === TokenKind.name) return true;
    // A return type between the parameters and the body: `function f(a): T {`, or a method with one.
    const closed = this.#line.some((token) => token.text === ')');
    const returns = this.#line.some((token, at) => token.text === ')' && this.#line[at + 1]?.text === ':');
    const isMethod = this.#line[0]?.kind === TokenKind.name && !hasOutsideBrackets(this.#line, ['?', '=']);
    if (returns && this.#inBlock() && isMethod) return true;
    return (
      closed &&
      this.#inBlock() &&
      (this.#frame.kind === 'class' || words.some((token) => token.text === 'function'))
    );
  }

  #close(token: Token): void {
    if (token.text === '}') {
      // Whatever bracket is still open inside the block was never closed.
      let block = this.#frames.length - 1;
      if (!this.#inBlock()) {
        if (this.#frame.kind === 'object') {
          this.#frames.pop();
          if (this.#line.length > 0) this.#line.push(token);
          return;
        }
        while (block > 0 && this.#frames[block]?.kind === 'paren') block -= 1;
        if (block === 0) return;
      }
      this.#flush();
      for (const step of this.#frames[block]?.steps ?? []) this.#emit('plain', step);
      if (block > 0) this.#frames.length = block;
      this.#pending = undefined;
      return;
    }
    const frame = this.#frame;
    if (frame.kind !== 'paren') {
      if (this.#line.length > 0) this.#line.push(token);
      return;
    }
    this.#frames.pop();
    if (frame.control === undefined) {
      if (this.#line.length > 0) this.#line.push(token);
      return;
    }
    this.#endControl(frame.control);
  }

  #endControl(control: string): void {
    const parts = [...this.#forParts, this.#line];
    this.#line = [];
    this.#forParts = [];
    if (control === 'catch') return;
    if (control !== 'for' || parts.length === 1) {
      const of = parts[0]?.findIndex((token) => token.text === 'of' || token.text === 'in') ?? -1;
      const role = control === 'for' && of > 0 ? 'each' : (CONTROL.get(control) as StatementRole);
      this.#line = parts[0] ?? [];
      this.#header(role);
      return;
    }
    const [start = [], condition = [], step = []] = parts;
    for (const declarator of declarators(start)) this.#emit('plain', declarator);
    this.#line = condition;
    this.#header('loop');
    if (this.#pending !== undefined) this.#steps = topLevelParts(step);
  }

  #header(role: StatementRole): void {
    const before = this.#statements.length;
    this.#flush(role);
    if (this.#statements.length > before) this.#pending = this.#statements.length - 1;
  }

  #semicolon(): void {
    if (this.#frame.control === 'for') {
      this.#forParts.push(this.#line);
      this.#line = [];
      return;
    }
    if (!this.#inBlock()) return;
    this.#flush();
    this.#pending = undefined;
  }

  #nextDeclarator(): void {
    const [declaration] = this.#line;
    const pending = this.#pending;
    this.#flush();
    this.#pending = pending;
    this.#line = declaration === undefined ? [] : [declaration];
  }

  #flush(role?: StatementRole): void {
    const line = this.#line;
    this.#line = [];
    if (line.length === 0) return;
    const parent = this.#parent();
    const steps = this.#steps;
    this.#pending = undefined;
    this.#steps = [];
    this.#emit(role ?? roleOfSimple(line), line, parent);
    for (const step of steps) this.#emit('plain', step, parent);
  }

  #emit(role: StatementRole, line: readonly Token[], parent = this.#parent()): void {
    const tokens = DECLARATIONS.has(line[0]?.text ?? '') ? line.slice(1) : line;
    if (tokens.length === 0 || saysNothing(role, tokens)) return;
    this.#statements.push({ role, tokens, parent, scope: this.#frame.scope });
  }
}

function declarators(line: readonly Token[]): Token[][] {
  const [declaration, ...rest] = line;
  if (declaration === undefined) return [];
  if (!DECLARATIONS.has(declaration.text)) return topLevelParts(line);
  return topLevelParts(rest);
}

function topLevelParts(line: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]];
  let depth = 0;
  for (const token of line) {
    if (token.kind === TokenKind.operator && '([{'.includes(token.text)) depth += 1;
    if (token.kind === TokenKind.operator && ')]}'.includes(token.text)) depth -= 1;
    if (depth === 0 && token.text === ',') parts.push([]);
    else parts[parts.length - 1]?.push(token);
  }
  return parts.filter((part) => part.length > 0);
}

/** Whether one of the signs is outside all brackets. */
function hasOutsideBrackets(line: readonly Token[], signs: readonly string[]): boolean {
  let depth = 0;
  for (const { kind, text } of line) {
    if (kind !== TokenKind.operator) continue;
    if ('([{'.includes(text)) depth += 1;
    else if (')]}'.includes(text)) depth -= 1;
    else if (depth === 0 && signs.includes(text)) return true;
  }
  return false;
}

function roleOfSimple(line: readonly Token[]): StatementRole {
  if (line[0]?.text === 'import') return 'import';
  const requires = line.some((token, at) => token.text === 'require' && line[at + 1]?.text === '(');
  return requires ? 'import' : 'plain';
}

/** A directive ('use strict'), a variable without a value, a lone bracket. */
function saysNothing(role: StatementRole, tokens: readonly Token[]): boolean {
  if (role !== 'plain') return false;
  if (tokens.every((token) => token.kind === TokenKind.string)) return true;
  if (tokens.every((token) => token.kind === TokenKind.operator)) return true;
  return tokens.length === 1 && tokens[0]?.kind === TokenKind.name;
}
