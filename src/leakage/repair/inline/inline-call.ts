import type { Call, Expr, FunctionDefinition, Module, Stmt } from '../../syntax/ast.js';
import { ownExpressions } from '../../syntax/walk.js';
import { edited, type TextEdit } from '../context.js';
import { bodyText, definitionLines, indentOf, lineStart, notesOf, resultText } from './function-text.js';
import { localNames } from './local-names.js';
import { onlyCallOf } from './only-call.js';
import { namesInSuite, scopeAround, statementsOfSuite } from './scopes.js';

/** What reads variables by names that are in a text. */
const READS_BY_TEXT = /\b(locals|globals|vars|eval|exec|query|dir)\s*\(/;

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
function isPlain({ source }: Module, definition: FunctionDefinition): boolean {
  const { decorators, params, start, end } = definition;
  const text = source.slice(start, end);
  const isOther = decorators.length > 0 || params.some(({ star }) => star !== '') || !text.startsWith('def');
  if (isOther || !(isOfScript(definition) || isMethod(definition))) return false;
  if (/\b(yield|await|except\b.*\bas)\b/.test(text) || READS_BY_TEXT.test(text)) return false;
  // `f"{share=}"` shows the name, and magics are no Python.
  if (/\{\s*\w+\s*=\s*[}!:]/.test(text) || /^\s*[%!]/m.test(text)) return false;
  const body = linesOf(definition);
  const [first] = body;
  // `def area(r): return r * r`
  if (first === undefined || lineStart(source, first.start) <= start) return false;
  return [...statementsOfSuite(body)].every((statement) => isPlainStatement(statement, body.at(-1)));
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
  const isSimple = /^(name|call|attribute|subscript|constant)$/.test(result?.type ?? 'constant');
  const text = isAlone || isSimple ? value : `(${value})`;
  return [edited(source, statement, [{ start: call.start, end: call.end, text }])];
}
