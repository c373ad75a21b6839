import { createHash } from 'node:crypto';
import { PromptError } from '../errors.js';

/** A value of a prompt's variable: a text, or a list of texts. */
type PromptValue = string | readonly string[];
export type PromptVariables = Readonly<Record<string, PromptValue>>;

export interface VariableDeclaration {
  readonly name: string;
  readonly list: boolean;
  readonly optional: boolean;
}

/** A rendered prompt. The stable part is the same for every call of an agent, so it can be cached. */
export interface RenderedPrompt {
  /** The instructions, without any value. */
  readonly stable: string;
  /** What differs from call to call: the values and the words around them. */
  readonly variable: string;
  /** Both parts, as one text. */
  readonly text: string;
  /** SHA-256 of `text`, hexadecimal. */
  readonly digest: string;
}

type Segment =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly name: string }
  | { readonly kind: 'section'; readonly name: string; readonly segments: readonly Segment[] };

export interface PromptTemplate {
  /** For messages, as in `leakage-detection`. */
  readonly label: string;
  readonly variables: readonly VariableDeclaration[];
  readonly stable: string;
  readonly segments: readonly Segment[];
}

/** The line of a template that ends the stable part. */
const STABLE_PART_END = '<!-- the stable part ends here -->';
/** A line that is meant to be that one: it would otherwise be shown to the model, and nothing would be cached. */
const LIKE_STABLE_PART_END = /\bstable\s+part\b/i;

/**
 * Name of a built-in value: a word derived from all values, for tags that no value can imitate. A script
 * that holds the closing tag of its own enclosure would have to hold its own digest.
 */
const BOUNDARY = 'boundary';

const TAG = /\{\{\s*([#/]?)(?:(?<=[#/])\s*)?([a-z][a-z0-9_]*)\s*\}\}/g;
const STANDALONE_SECTION_TAG = /^[ \t]*(\{\{\s*[#/]\s*[a-z][a-z0-9_]*\s*\}\})[ \t]*\n/gm;

/** The comment in a line, or an empty text. */
function commentIn(line: string): string {
  const start = line.indexOf('<!--');
  const end = line.lastIndexOf('-->');
  return start === -1 || end < start ? '' : line.slice(start, end + '-->'.length);
}

/**
 * Reads a template. `{{ name }}` is replaced by a value; the lines between `{{# name }}` and `{{/ name }}` appear only
 * if the value exists and is not empty.
 *
 * @throws {PromptError} a placeholder that is not declared, a section that is not closed, or a required variable that the
 * template never shows (an agent must see the script that it checks).
 */
export function parseTemplate(
  label: string,
  source: string,
  variables: readonly VariableDeclaration[],
): PromptTemplate {
  const text = source.replaceAll('\r\n', '\n').trim();
  const end = text.indexOf(STABLE_PART_END);
  const stable = end === -1 ? '' : text.slice(0, end).trim();
  const rest = end === -1 ? text : text.slice(end + STABLE_PART_END.length).trim();

  const wrongEnd = rest
    .split('\n')
    .map(commentIn)
    .find((comment) => LIKE_STABLE_PART_END.test(comment));
  if (wrongEnd !== undefined) {
    const problem = wrongEnd === STABLE_PART_END ? 'a second time' : `but must be ${STABLE_PART_END}`;
    throw templateError(label, `the line that ends its stable part is there as ${wrongEnd}, ${problem}`);
  }
  const misplaced = [...stable.matchAll(TAG)][0];
  if (misplaced) {
    throw templateError(label, `${misplaced[0]} is in the stable part, which holds no values`);
  }
  const template = { label, variables, stable, segments: parseSegments(label, rest) };
  const shown = namesIn(template.segments);
  const declared = new Set(variables.map((variable) => variable.name));
  for (const name of shown) {
    if (name !== BOUNDARY && !declared.has(name)) {
      throw templateError(
        label,
        `{{ ${name} }} is not a variable of it (it has: ${[...declared].join(', ')})`,
      );
    }
  }
  for (const { name, optional } of variables) {
    if (!optional && !shown.has(name)) throw templateError(label, `it never shows {{ ${name} }}`);
  }
  return template;
}

/**
 * Puts the values in, literally: nothing inside a value is a placeholder or a pattern. Lists are numbered.
 *
 * @throws {PromptError} a missing, unknown or wrongly typed variable.
 */
export function renderTemplate(template: PromptTemplate, variables: PromptVariables): RenderedPrompt {
  checkVariables(template, variables);
  const values = new Map<string, string>();
  const hash = createHash('sha256');
  for (const { name } of template.variables) {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const shown = typeof value === 'string' ? value : numbered(value ?? []);
    values.set(name, shown);
    hash.update(`${name}:${shown.length}:`).update(shown, 'utf8');
  }
  values.set(BOUNDARY, hash.digest('hex').slice(0, 16));

  const variable = expand(template.segments, values);
  const text = template.stable === '' ? variable : `${template.stable}\n\n${variable}`;
  const digest = createHash('sha256').update(text, 'utf8').digest('hex');
  return { stable: template.stable, variable, text, digest };
}

function numbered(items: readonly string[]): string {
  return items.map((item, index) => `${index + 1}.\n${item}`).join('\n\n');
}

function expand(segments: readonly Segment[], values: ReadonlyMap<string, string>): string {
  const parts: string[] = [];
  for (const segment of segments) {
    if (segment.kind === 'text') parts.push(segment.text);
    else if (segment.kind === 'value') parts.push(values.get(segment.name) ?? '');
    else if ((values.get(segment.name) ?? '') !== '') parts.push(expand(segment.segments, values));
  }
  return parts.join('');
}

function checkVariables(template: PromptTemplate, variables: PromptVariables): void {
  const declared = new Map(template.variables.map((variable) => [variable.name, variable]));
  for (const [name, value] of Object.entries(variables)) {
    const declaration = declared.get(name);
    if (!declaration) {
      throw variableError(
        template,
        name,
        `has no variable "${name}" (it has: ${[...declared.keys()].join(', ')})`,
      );
    }
    const fits = declaration.list
      ? Array.isArray(value) && value.every((item) => typeof item === 'string')
      : typeof value === 'string';
    if (!fits) {
      throw variableError(
        template,
        name,
        `needs ${declaration.list ? 'a list of texts' : 'a text'} as "${name}"`,
      );
    }
  }
  for (const { name, optional } of template.variables) {
    if (!optional && !Object.hasOwn(variables, name)) {
      throw variableError(template, name, `needs the variable "${name}", which is missing`);
    }
  }
}

function parseSegments(label: string, source: string): Segment[] {
  // A section's tag on a line of its own takes its line break with it.
  const text = source.replace(STANDALONE_SECTION_TAG, '$1');
  const top: Segment[] = [];
  let current = top;
  let open: string | undefined;
  let from = 0;
  for (const match of text.matchAll(TAG)) {
    const [tag, sigil, name = ''] = match;
    if (match.index > from) current.push({ kind: 'text', text: text.slice(from, match.index) });
    from = match.index + tag.length;
    if (sigil === '') {
      current.push({ kind: 'value', name });
    } else if (sigil === '#') {
      if (open !== undefined) throw templateError(label, `${tag} is inside the section "${open}"`);
      const inner: Segment[] = [];
      current.push({ kind: 'section', name, segments: inner });
      current = inner;
      open = name;
    } else {
      if (open !== name) throw templateError(label, `${tag} closes no open section`);
      current = top;
      open = undefined;
    }
  }
  if (open !== undefined) throw templateError(label, `the section "${open}" is not closed`);
  if (from < text.length) current.push({ kind: 'text', text: text.slice(from) });
  return top;
}

/** Names of all placeholders; a section's own tag shows nothing, so it does not count. */
function namesIn(segments: readonly Segment[], found = new Set<string>()): Set<string> {
  for (const segment of segments) {
    if (segment.kind === 'value') found.add(segment.name);
    if (segment.kind === 'section') namesIn(segment.segments, found);
  }
  return found;
}

function templateError(label: string, problem: string): PromptError {
  return new PromptError('prompt-variable', `The prompt ${label} cannot be used: ${problem}.`);
}

function variableError(template: PromptTemplate, field: string, problem: string): PromptError {
  return new PromptError('prompt-variable', `The prompt ${template.label} ${problem}.`, { field });
}
