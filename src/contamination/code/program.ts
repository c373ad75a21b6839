import { type CanonicalStatement, canonicalStatements } from './canonical-statements.js';
import { lexGeneric } from './generic-lexer.js';
import { libraryNames } from './import-names.js';
import { lexJavaScript } from './javascript-lexer.js';
import { javascriptStatements } from './javascript-statements.js';
import { NameTable } from './names.js';
import { lexPython } from './python-lexer.js';
import { pythonStatements } from './python-statements.js';
import { type Statement, type StatementRole, TOP } from './statement.js';
import { type CodeLanguage, type Token, TokenKind } from './token.js';

/** A statement with its names taken out. */
export interface NormalStatement {
  readonly role: StatementRole;
  /** Text with a numbered slot for every name the author chose and one sign for every literal. */
  readonly template: string;
  /** The variable in each slot. */
  readonly variables: readonly number[];
  /** Index of the header of the innermost function around it; −1 at the top. */
  readonly scope: number;
  /** How much the statement says; 0 for what is imported or does nothing. */
  readonly weight: number;
  /** Range of its tokens in `Program.tokens`. */
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
}

/** A program as the evasion checks read it. Offsets are positions in the text it was read from. */
export interface Program {
  readonly language: CodeLanguage;
  readonly statements: readonly NormalStatement[];
  /** Names of the variables that `NormalStatement.variables` number. */
  readonly names: readonly string[];
  /** For each variable the header of the function that binds it, `TOP`, or `ATTRIBUTE`. */
  readonly owners: readonly number[];
  readonly tokens: ProgramTokens;
  /** Tokens of the text itself, before anything was brought to another form. */
  readonly size: number;
}

/** The tokens of all statements one after another, as parallel columns. */
interface ProgramTokens {
  /** Hash of the token with names and literals leveled. */
  readonly leveled: Int32Array;
  /** Hash of the token as it is. */
  readonly exact: Int32Array;
  /** Number of the variable that the token names; −1 where it names none. */
  readonly variable: Int32Array;
  readonly weight: Float32Array;
  readonly start: Uint32Array;
  readonly end: Uint32Array;
}

const LIGHT = /^[()[\]{},.:;]$/;

export function readProgram(text: string, language: CodeLanguage): Program {
  const { statements, size } = statementsOf(text, language);
  const table = new NameTable(statements, language);
  const count = statements.reduce((sum, statement) => sum + statement.tokens.length, 0);
  const columns: ProgramTokens = {
    leveled: new Int32Array(count),
    exact: new Int32Array(count),
    variable: new Int32Array(count).fill(-1),
    weight: new Float32Array(count),
    start: new Uint32Array(count),
    end: new Uint32Array(count),
  };
  let at = 0;
  const normal = statements.map((statement, index): NormalStatement => {
    const from = at;
    const slots = new Map<number, number>();
    const parts: string[] = [];
    let weight = 0;
    let start = statement.tokens[0]?.start ?? 0;
    let end = start;
    const fraction = statement.dead === true ? 0 : ROLE_WEIGHT[statement.role];
    statement.tokens.forEach((token, position) => {
      const variable =
        token.kind === TokenKind.name ? table.variableAt(statement, index, position) : undefined;
      let leveled = token.text;
      let part = leveled;
      if (variable !== undefined) {
        let slot = slots.get(variable);
        if (slot === undefined) {
          slot = slots.size;
          slots.set(variable, slot);
        }
        leveled = '\u0001';
        part = `$${slot}`;
      } else if (token.kind === TokenKind.number) {
        leveled = '\u0002';
        part = '#';
      } else if (token.kind === TokenKind.string) {
        leveled = '\u0003';
        part = '"';
      }
      parts.push(part);
      const own = fraction * tokenWeight(token, variable !== undefined);
      weight += own;
      columns.leveled[at] = hashText(leveled);
      columns.exact[at] = hashText(token.text);
      columns.variable[at] = variable ?? -1;
      columns.weight[at] = own;
      columns.start[at] = token.start;
      columns.end[at] = token.end;
      start = Math.min(start, token.start);
      end = Math.max(end, token.end);
      at += 1;
    });
    const variables = [...slots.keys()];
    const template = `${statement.role === 'plain' ? '' : statement.role}|${parts.join(' ')}`;
    return {
      role: statement.role,
      template,
      variables,
      scope: statement.scope,
      weight,
      from,
      to: at,
      start,
      end,
    };
  });
  return { language, statements: normal, names: table.names, owners: table.owners, tokens: columns, size };
}

/** What a task dictates says little about who wrote it. */
const ROLE_WEIGHT: Record<StatementRole, number> = {
  plain: 1,
  branch: 1,
  loop: 1,
  each: 1,
  context: 0.5,
  define: 0.3,
  class: 0.2,
  import: 0,
};

function tokenWeight(token: Token, isVariable: boolean): number {
  if (token.kind === TokenKind.operator) return LIGHT.test(token.text) ? 0.25 : 1;
  if (token.kind === TokenKind.name) return isVariable ? 0.75 : 1.5;
  return token.kind === TokenKind.keyword ? 1 : 0.75;
}

function statementsOf(
  text: string,
  language: CodeLanguage,
): { statements: CanonicalStatement[]; size: number } {
  if (language === 'python') {
    const tokens = lexPython(text);
    const size = tokens.filter((token) => token.kind < TokenKind.newline).length;
    return { statements: canonicalStatements(libraryNames(pythonStatements(tokens))), size };
  }
  if (language === 'javascript') {
    const tokens = lexJavaScript(text);
    return { statements: canonicalStatements(javascriptStatements(tokens)), size: tokens.length };
  }
  const tokens = lexGeneric(text);
  return { statements: genericStatements(tokens), size: tokens.length };
}

/** FNV-1a over UTF-16 units. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash | 0;
}

/** Statements of code in an unknown language: what is between line breaks, semicolons and braces. */
function genericStatements(tokens: readonly Token[]): Statement[] {
  const statements: Statement[] = [];
  let line: Token[] = [];
  let depth = 0;
  const flush = (): void => {
    if (line.length > 0) statements.push({ role: 'plain', tokens: line, parent: TOP, scope: TOP });
    line = [];
    depth = 0;
  };
  for (const token of tokens) {
    if (token.afterBreak && depth === 0) flush();
    if (token.kind === TokenKind.operator) {
      if (token.text === '(' || token.text === '[') depth += 1;
      else if (token.text === ')' || token.text === ']') depth = Math.max(0, depth - 1);
      else if (token.text === '{' || token.text === '}' || token.text === ';') {
        flush();
        continue;
      }
    }
    line.push(token);
  }
  flush();
  return statements;
}
