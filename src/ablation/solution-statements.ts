import { parsePython, type SyntaxNode } from '../solution/python-syntax.js';
import { calledName, nodesOf } from './syntax-nodes.js';

/** How far apart two parts of one step may be. */
interface Reach {
  readonly min: number;
  readonly max: number;
  /** A sign that ends the step. */
  readonly barrier?: string;
}

/** Whether a match of `second` starts within reach of the end of a match of `first`. */
function follows(text: string, first: RegExp, second: RegExp, reach: Reach): boolean {
  const starts = [...text.matchAll(second)].map((match) => match.index);
  let next = 0;
  for (const match of text.matchAll(first)) {
    const end = match.index + match[0].length;
    while (next < starts.length && (starts[next] ?? 0) < end + reach.min) next += 1;
    const start = starts[next];
    if (start === undefined) return false;
    if (start - end > reach.max) continue;
    if (reach.barrier === undefined || !text.slice(end, start).includes(reach.barrier)) return true;
  }
  return false;
}

const GROUPED = /\.groupby\(/g;
const MEAN = /\bmean\b/g;

/** A mean by group, as target encodings are written by hand. */
function isMeanByGroup(statement: string): boolean {
  return follows(statement, GROUPED, MEAN, { min: 1, max: 200 });
}

const WEIGHTED = /(?:\b0?\.\d+|\bw\w*(?:\[[^\]]{1,20}\])?)\s*\*/g;
const PLUS_WEIGHTED = /\+(?=\s*(?!\s)(?:\(?1\s*-\s*(?!\s))?[^=]{0,40}?\*)/g;
const PREDICTION = /\(\s*\w*?(?:pred|prob|oof)\w*/g;
const PLUS_DIVIDED = /\+(?=[^=]{0,120}?\)\s*\/\s*\d)/g;

/** `0.6 * a + 0.4 * b` and `(pred_a + pred_b) / 2`: predictions put together by hand. */
function isBlend(statement: string): boolean {
  return (
    follows(statement, WEIGHTED, PLUS_WEIGHTED, { min: 1, max: 200, barrier: '=' }) ||
    follows(statement, PREDICTION, PLUS_DIVIDED, { min: 0, max: 80, barrier: '=' })
  );
}

/** One whole statement of a script. Offsets are UTF-16 code units of the script. */
export interface SolutionStatement {
  /** Start of the statement's first line, its indentation included, where nothing else comes before it. */
  readonly start: number;
  readonly end: number;
  /** Names that say what the statement makes: called functions, keyword arguments, assigned names. */
  readonly makes: readonly string[];
  /** Other names and texts in it. */
  readonly mentions: readonly string[];
  /** Names that the statement assigns. */
  readonly assigns: readonly string[];
  /** Names whose methods it calls with `fit`, `transform` and the like. */
  readonly fits: readonly string[];
  readonly isDefinition: boolean;
  readonly isPrint: boolean;
  /** Statements of one block of code have the same number, and follow each other by `position`. */
  readonly block: number;
  readonly position: number;
}

const SKIPPED = new Set([
  'comment',
  'import_statement',
  'import_from_statement',
  'future_import_statement',
  'pass_statement',
  'break_statement',
  'continue_statement',
  'global_statement',
  'nonlocal_statement',
]);
const COMPOUND = new Set([
  'if_statement',
  'for_statement',
  'while_statement',
  'try_statement',
  'with_statement',
  'function_definition',
  'class_definition',
  'decorated_definition',
  'match_statement',
]);
const FITTING = /^(?:fit|fit_transform|transform|fit_resample|compile|train|partial_fit|set_output)$/;
/** A definition longer than this is not a block that one step of refinement rewrites. */
const MAX_DEFINITION_LENGTH = 8000;

/** Start of the line where only indentation comes before `position`, else `position`. */
function startOfLine(source: string, position: number): number {
  let start = position;
  // Only the indentation is read: a line may have as many statements as it has characters.
  while (start > 0 && /[ \t]/.test(source.charAt(start - 1))) start -= 1;
  return start === 0 || source.charAt(start - 1) === '\n' ? start : position;
}

interface Terms {
  readonly makes: Set<string>;
  readonly mentions: Set<string>;
  readonly assigns: Set<string>;
  readonly fits: Set<string>;
}

function addTargets(target: SyntaxNode, terms: Terms): void {
  for (const node of nodesOf(target)) {
    if (node.type === 'identifier') terms.assigns.add(node.text);
    if (node.type === 'string_content' || node.type === 'identifier') terms.makes.add(node.text.slice(0, 80));
  }
}

function termsOf(statement: SyntaxNode): Terms {
  const terms: Terms = { makes: new Set(), mentions: new Set(), assigns: new Set(), fits: new Set() };
  for (const node of nodesOf(statement)) {
    if (node.type === 'call') {
      const name = calledName(node);
      terms.makes.add(name);
      const owner = node.childForFieldName('function')?.childForFieldName('object');
      if (FITTING.test(name) && owner?.type === 'identifier') terms.fits.add(owner.text);
    } else if (node.type === 'keyword_argument') {
      terms.makes.add(node.childForFieldName('name')?.text ?? '');
    } else if (node.type === 'assignment' || node.type === 'augmented_assignment') {
      const target = node.childForFieldName('left');
      if (target !== null) addTargets(target, terms);
      if (isMeanByGroup(node.text.slice(0, 600))) terms.makes.add('target_mean');
      if (isBlend(node.text.slice(0, 600))) terms.makes.add('blend');
    } else if (node.type === 'identifier' || node.type === 'string_content') {
      terms.mentions.add(node.text.slice(0, 80));
    }
  }
  return terms;
}

function definitionName(node: SyntaxNode): string | undefined {
  const inner = node.type === 'decorated_definition' ? node.childForFieldName('definition') : node;
  const isDefinition = inner?.type === 'function_definition' || inner?.type === 'class_definition';
  return isDefinition ? (inner.childForFieldName('name')?.text ?? '') : undefined;
}

/** Bodies below a compound statement that hold statements of their own. */
function bodiesOf(statement: SyntaxNode): SyntaxNode[] {
  const bodies: SyntaxNode[] = [];
  const waiting = [statement];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    for (const child of node.namedChildren) {
      if (child === null) continue;
      if (child.type === 'block') bodies.push(child);
      else if (/_clause$|_definition$/.test(child.type)) waiting.push(child);
    }
  }
  return bodies;
}

const MAX_SCRIPT_LENGTH = 1024 * 1024;

/**
 * The statements of a script that could be refined: at any depth, without imports. Of a script with syntax
 * errors those that parse.
 */
export async function solutionStatements(source: string): Promise<SolutionStatement[]> {
  if (source.length > MAX_SCRIPT_LENGTH) return [];
  const tree = await parsePython(source);
  try {
    const statements: SolutionStatement[] = [];
    const waiting: SyntaxNode[] = [tree.rootNode];
    let block = 0;
    for (let body = waiting.pop(); body !== undefined; body = waiting.pop()) {
      block += 1;
      let position = 0;
      for (const node of body.namedChildren) {
        if (node === null || node.type === 'comment') continue;
        position += 1;
        if (SKIPPED.has(node.type) || node.type === 'ERROR' || node.isMissing) continue;
        if (COMPOUND.has(node.type)) {
          waiting.push(...bodiesOf(node));
          const name = definitionName(node);
          if (name === undefined || node.hasError || node.endIndex - node.startIndex > MAX_DEFINITION_LENGTH)
            continue;
          statements.push({
            ...span(source, node),
            makes: [name],
            mentions: [],
            assigns: [],
            fits: [],
            isDefinition: true,
            isPrint: false,
            block,
            position,
          });
          continue;
        }
        if (node.hasError || node.firstNamedChild?.type === 'string') continue;
        const terms = termsOf(node);
        statements.push({
          ...span(source, node),
          makes: [...terms.makes],
          mentions: [...terms.mentions],
          assigns: [...terms.assigns],
          fits: [...terms.fits],
          isDefinition: false,
          isPrint: terms.makes.has('print') || /^(?:logger|logging)\b/.test(node.text.slice(0, 8)),
          block,
          position,
        });
      }
    }
    return statements.sort((a, b) => a.start - b.start);
  } finally {
    tree.delete();
  }
}

function span(source: string, node: SyntaxNode): { start: number; end: number } {
  const end = node.endIndex - (/(?<!\s)\s*$/.exec(node.text.slice(-40))?.[0].length ?? 0);
  return { start: startOfLine(source, node.startIndex), end };
}
