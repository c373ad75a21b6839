import jsTokens, { type Token as JsToken } from 'js-tokens';
import { lexGeneric } from './generic-lexer.js';
import { JAVASCRIPT_CONTEXTUAL, JAVASCRIPT_KEYWORDS } from './javascript-words.js';
import { type Token, TokenKind } from './token.js';

const KIND_OF = {
  StringLiteral: TokenKind.string,
  NoSubstitutionTemplate: TokenKind.string,
  TemplateHead: TokenKind.string,
  TemplateMiddle: TokenKind.string,
  TemplateTail: TokenKind.string,
  RegularExpressionLiteral: TokenKind.string,
  NumericLiteral: TokenKind.number,
  PrivateIdentifier: TokenKind.name,
  Punctuator: TokenKind.operator,
  Invalid: TokenKind.operator,
} as const;

/**
 * Tokens of a JavaScript or TypeScript text. Never throws: what JavaScript does not know becomes an operator
 * of its own. A word after a dot is a name, whatever it would mean elsewhere (`map.delete`).
 */
export function lexJavaScript(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let afterBreak = true;
  for (const token of jsTokens(source)) {
    const start = at;
    if (swallowsRest(token)) {
      const opening = token.value.startsWith('/*') ? 2 : 1;
      return [
        ...tokens,
        ...lexGeneric(source.slice(start + opening)).map((later) => shifted(later, start + opening)),
      ];
    }
    at += token.value.length;
    switch (token.type) {
      case 'WhiteSpace':
      case 'HashbangComment':
      case 'SingleLineComment':
        continue;
      case 'MultiLineComment':
        afterBreak ||= token.value.includes('\n');
        continue;
      case 'LineTerminatorSequence':
        afterBreak = true;
        continue;
      case 'IdentifierName': {
        const before = tokens[tokens.length - 1]?.text;
        const isProperty = before === '.' || before === '?.';
        const kind = !isProperty && JAVASCRIPT_KEYWORDS.has(token.value) ? TokenKind.keyword : TokenKind.name;
        const unit = source.charCodeAt(start - 1);
        const atMargin = start === 0 || unit === 0x0a || unit === 0x0d;
        tokens.push({ kind, text: token.value, start, end: at, afterBreak, atMargin });
        break;
      }
      case 'Punctuator':
        if ((token.value === '>=' || token.value === '>>=') && closesTypeArguments(tokens)) {
          const kind = TokenKind.operator;
          tokens.push({ kind, text: token.value.slice(0, -1), start, end: at - 1, afterBreak });
          tokens.push({ kind, text: '=', start: at - 1, end: at, afterBreak: false });
          break;
        }
        tokens.push({ kind: TokenKind.operator, text: token.value, start, end: at, afterBreak });
        break;
      default:
        tokens.push({ kind: KIND_OF[token.type], text: token.value, start, end: at, afterBreak });
    }
    afterBreak = false;
    settleContextual(tokens);
  }
  return tokens;
}

const MAX_TYPE_TOKENS = 60;

/** Whether the tokens end inside the type arguments of a declaration: TypeScript reads `head: Node<T>=null` as `> =`. */
function closesTypeArguments(tokens: readonly Token[]): boolean {
  const least = Math.max(2, tokens.length - MAX_TYPE_TOKENS);
  for (let at = tokens.length - 1; at >= least; at--) {
    const { kind, text } = tokens[at] as Token;
    if (text === '<') {
      const before = tokens[at - 2]?.text;
      if (tokens[at - 1]?.kind === TokenKind.name && (before === ':' || before === 'type')) return true;
    }
    const mayBeInside = kind === TokenKind.name || kind === TokenKind.keyword || /^[.,|&[\]<>]+$/.test(text);
    if (!mayBeInside) return false;
  }
  return false;
}

/** A contextual word before the last token is a keyword if that is a name on the same line (`type T`). */
function settleContextual(tokens: Token[]): void {
  const word = tokens[tokens.length - 2];
  const last = tokens[tokens.length - 1];
  if (word === undefined || last === undefined || word.kind !== TokenKind.name) return;
  if (last.kind > TokenKind.keyword || last.afterBreak || !JAVASCRIPT_CONTEXTUAL.has(word.text)) return;
  const before = tokens[tokens.length - 3]?.text;
  if (before === '.' || before === '?.') return;
  tokens[tokens.length - 2] = { ...word, kind: TokenKind.keyword };
}

/** A comment or template that is never closed would hide all that follows: from there on, any language. */
function swallowsRest(token: JsToken): boolean {
  return (
    (token.type === 'MultiLineComment' ||
      token.type === 'NoSubstitutionTemplate' ||
      token.type === 'TemplateTail') &&
    !token.closed
  );
}

function shifted(token: Token, by: number): Token {
  return { ...token, start: token.start + by, end: token.end + by };
}
