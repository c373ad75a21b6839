import type { Call, Expr, FunctionDefinition, Module, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, namesInExpression, ownExpressions } from '../../syntax/walk.js';
import { edited, type TextEdit } from '../context.js';
import { globalNames } from './captures.js';
import { bodyText, definitionLines, indentOf, lineStart, notesOf, resultText } from './function-text.js';
import { localNames } from './local-names.js';
import { onlyCallOf } from './only-call.js';
import { namesInSuite, scopeAround, statementsOfSuite } from './scopes.js';

/** What reads variables by names that are in a text. */
const READS_BY_TEXT =
  /\b(locals|globals|vars|eval|exec|query|sql|sqldf|dir|dmatrix|dmatrices|smf\.\w+|from_formula|currentframe|_getframe)\s*\(/;
/** What reads the variables around it by names, anywhere in a script. */
const READS_ANY = /(?<![\w.])(?:(?:locals|globals|eval|exec)\s*\(|(?:vars|dir)\s*\(\s*\))/;
/** What is closed when nothing refers to it any more. */
const CLOSED_AT_THE_END = /^(open|ExcelWriter|HDFStore|memmap)$|Temporary|Pool/;
/** Types whose names are always known. */
const PLAIN_TYPE = /^(int|float|str|bool|bytes|list|dict|tuple|set|object|None)$/;

/**
 * A script with the body of a function where its only call was. It does the same: a name of the function stays as it is unless the
 * lines around the call use it, and becomes a new one otherwise.
 *
 * @returns nothing where it is not certain that the script does the same
 */
export function inlineFunction(module: Module, definition: FunctionDefinition): string | undefined {
  const { source } = module;
  const found = isPlain(module, definition) ? onlyCallOf(module, definition) : undefined;
  if (found === undefined) return undefined;
  const { statement, call } = found;
  const body = linesOf(definition);
  const last = body.at(-1);
  const result = last?.type === 'return' ? last : undefined;
  const scope = scopeAround(module, statement, definition);
  if (scope.owner === undefined && hasTypes(module, definition, body)) return undefined;
  if (isInClass(statement) !== isInClass(definition) && hasPrivateNames(module, definition)) return undefined;
  if ([...expressionsIn(statement.type === 'expression' ? statement.value : call)].some(isWalrus))
    return undefined;
  if (keepsOpen(body, call) || namesGlobalsBeside(module, statement, call)) return undefined;
  const locals = localNames({ module, definition, body, statement, call, scope, result: result?.value });
  if (locals === undefined) return undefined;

  const renamings = renamingsIn(body, locals.names);
  const indent = indentOf(source, statement);
  const lines = bodyText(source, definition, body, renamings, indent);
  const value = resultText(source, result, renamings, indent);
  if (lines === undefined || value === undefined) return undefined;
  const rest = withoutCall(source, statement, call, value, result?.value);
  const parts = [...notesOf(source, definition), ...locals.bindings, ...lines, ...rest];
  if (parts.length === 0) return undefined;
  const ending = source.includes('\r\n') ? '\r\n' : '\n';
  return edited(source, { start: 0, end: source.length }, [
    { ...definitionLines(source, definition), text: '' },
    { start: statement.start, end: statement.end, text: parts.join(`${ending}${indent}`) },
  ]);
}

/** The statements of a function, without the text that documents it. */
function linesOf({ body: { statements } }: FunctionDefinition): readonly Stmt[] {
  const [first] = statements;
  const isText =
    first?.type === 'expression' && first.value.type === 'constant' && typeof first.value.value === 'string';
  return isText ? statements.slice(1) : statements;
}

/** Whether a function runs its lines from the first to the last, and nothing else can reach its names. */
function isPlain(module: Module, definition: FunctionDefinition): boolean {
  const { source, parsed, unread, magicCalls } = module;
  if (!parsed || unread.length > 0 || magicCalls.length > 0 || READS_ANY.test(source)) return false;
  const { decorators, params, start, end } = definition;
  const text = source.slice(start, end);
  const isOther = decorators.length > 0 || params.some(({ star }) => star !== '') || !text.startsWith('def');
  if (isOther || !(isOfScript(definition) || isMethod(definition))) return false;
  if (/\b(yield|await|except\b[^\n]{0,300}?\bas)\b/.test(text) || READS_BY_TEXT.test(text)) return false;
  // `f"{share=}"` shows the name, and magics are no Python.
  if (/\{[^{}\n]*[^=!<>{}\n]=\s*[}!:]/.test(text) || /^[ \t]{0,200}[%!]/m.test(text)) return false;
  const body = linesOf(definition);
  const [first] = body;
  // `def area(r): return r * r`
  if (first === undefined || lineStart(source, first.start) <= start) return false;
  return [...statementsOfSuite(body)].every((statement) => isPlainStatement(statement, body.at(-1)));
}

/** Whether a function says of which types its variables are: the script itself would look these up. */
function hasTypes({ source }: Module, { start, end }: FunctionDefinition, body: readonly Stmt[]): boolean {
  const first = body[0]?.start ?? start;
  if (
    /^[ \t]*(?!(?:else|try|finally|lambda)\b)[\w.]+[ \t]*:[ \t]*[^\s=#][^=\n]*$/m.test(
      source.slice(first, end),
    )
  )
    return true;
  return [...statementsOfSuite(body)].some((statement) => {
    const [target] = statement.type === 'assign' ? statement.targets : [];
    if (statement.type !== 'assign' || target === undefined) return false;
    const type = /^\s*:([^=]*)=/.exec(source.slice(target.end, statement.value.start))?.[1]?.trim();
    return type !== undefined && !PLAIN_TYPE.test(type);
  });
}

/** Whether a function has names that are others in a class: `__scale`. */
function hasPrivateNames({ source }: Module, { start, end }: FunctionDefinition): boolean {
  return /(?<!\w)__(?:\w*[^\W_])?_?(?!\w)/.test(source.slice(start, end));
}

function isInClass({ suite }: Stmt): boolean {
  for (let { owner } = suite; owner !== undefined; owner = owner.suite.owner)
    if (owner.type === 'class') return true;
  return false;
}

function isWalrus({ type }: Expr): boolean {
  return type === 'walrus';
}

/** Whether a line takes, besides its call, what functions of the script may give another value while it runs. */
function namesGlobalsBeside(module: Module, statement: Stmt, call: Call): boolean {
  const globals = new Set(globalNames(module));
  const value = ownExpressions(statement).at(-1) ?? call;
  return [...namesInExpression(value)].some(
    ({ id, start }) => globals.has(id) && (start < call.start || start >= call.end),
  );
}

/** Whether a file is closed only because the function that opens it ends. */
function keepsOpen(body: readonly Stmt[], call: Call): boolean {
  const values = [...statementsOfSuite(body)].flatMap((one) => (one.type === 'assign' ? [one.value] : []));
  return [...values, ...call.args.map(({ value }) => value)].some(
    (value) => value.type === 'call' && CLOSED_AT_THE_END.test(calleeName(value)),
  );
}

function isPlainStatement(statement: Stmt, last: Stmt | undefined): boolean {
  if (/^(function|class|global)$/.test(statement.type)) return false;
  if (statement.type === 'return') return statement === last;
  return statement.type !== 'other' || !(statement.error || statement.suites.length > 0);
}

function isOfScript({ suite: { owner } }: FunctionDefinition): boolean {
  return owner === undefined;
}

function isMethod({ suite: { owner }, params }: FunctionDefinition): boolean {
  return owner?.type === 'class' && owner.suite.owner === undefined && params[0]?.name === 'self';
}

function renamingsIn(body: readonly Stmt[], names: ReadonlyMap<string, string>): TextEdit[] {
  return namesInSuite(body).flatMap(({ start, end, id }) => {
    const name = names.get(id);
    return name === undefined || name === id ? [] : [{ start, end, text: name }];
  });
}

/** The statement of the call with a value for it; nothing where it would only give names their own values. */
function withoutCall(
  source: string,
  statement: Stmt,
  call: Call,
  value: string,
  result: Expr | undefined,
): string[] {
  const isNeeded = result !== undefined && result.type !== 'name';
  if (statement.type === 'expression' && statement.value === call && !isNeeded) return [];
  if (statement.type === 'assign' && statement.value === call) {
    const [target, other] = statement.targets.map(({ start, end }) => source.slice(start, end));
    if (target === value && other === undefined) return [];
  }
  const isAlone = ownExpressions(statement).includes(call);
  // `5.bit_length()` is no Python.
  const isSimple = result !== undefined && /^(name|call|attribute|subscript)$/.test(result.type);
  const text = isAlone || isSimple ? value : `(${value})`;
  return [edited(source, statement, [{ start: call.start, end: call.end, text }])];
}
