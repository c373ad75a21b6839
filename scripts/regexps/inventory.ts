import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Node, parse } from 'acorn';
import { FORMS_OF_DYNAMIC } from './dynamic-forms.js';

export interface FoundExpression {
  readonly source: string;
  readonly flags: string;
  /** File and line of the compiled code, for each place that uses the expression. */
  readonly places: string[];
}

export interface Inventory {
  readonly expressions: readonly FoundExpression[];
  /** Places that build an expression in a way that this inventory cannot follow. */
  readonly undeclared: readonly string[];
}

interface SyntaxNode extends Node {
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string';

function visit(node: SyntaxNode, each: (node: SyntaxNode) => void): void {
  each(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, each);
  }
}

const nameOf = (node: unknown): string => (isNode(node) ? String(node.name ?? '') : '');

/** Methods of strings that take a text for the source of an expression. */
const READ_TEXT_AS_EXPRESSION = ['match', 'matchAll', 'search'];

/** The argument that an expression is made of at run time; undefined for every other node. */
function dynamicSource(node: SyntaxNode): SyntaxNode | undefined {
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return undefined;
  const [first] = node.arguments as readonly SyntaxNode[];
  if (first === undefined) return undefined;
  if (nameOf(node.callee) === 'RegExp') return first;
  const callee = node.callee as SyntaxNode;
  const isText =
    first.type === 'TemplateLiteral' || (first.type === 'Literal' && typeof first.value === 'string');
  return isText && READ_TEXT_AS_EXPRESSION.includes(nameOf(callee.property)) ? first : undefined;
}

interface Site {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** The expressions that these modules build while they are loaded, by the place that builds them. */
async function builtAtLoading(folder: string, files: Iterable<string>): Promise<Map<string, RegExp[]>> {
  const built = new Map<string, RegExp[]>();
  const Real = globalThis.RegExp;
  globalThis.RegExp = new Proxy(Real, {
    construct(target, args, newTarget): object {
      const expression = Reflect.construct(target, args, newTarget);
      const frame = new Error().stack?.split('\n').find((line) => line.includes(pathToFileURL(folder).href));
      const place = /([^/\s(]+(?:\/[^/\s(]+)*\.js:\d+):\d+\)?$/.exec(frame ?? '')?.[1];
      if (place !== undefined) {
        const key = place.slice(place.indexOf('/dist/') === -1 ? 0 : place.indexOf('/dist/') + 6);
        built.set(key, [...(built.get(key) ?? []), expression]);
      }
      return expression;
    },
  });
  try {
    for (const file of files) await import(pathToFileURL(join(folder, file)).href);
  } finally {
    globalThis.RegExp = Real;
  }
  return built;
}

/** Every regular expression of the compiled code below `folder`. */
export async function regularExpressionsIn(folder: string): Promise<Inventory> {
  const found = new Map<string, FoundExpression>();
  const add = (source: string, flags: string, place: string): void => {
    const known = found.get(`${flags}/${source}`);
    if (known === undefined) found.set(`${flags}/${source}`, { source, flags, places: [place] });
    else known.places.push(place);
  };
  const sites: Site[] = [];
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.js'),
  );
  for (const file of files.sort()) {
    const text = readFileSync(join(folder, file), 'utf8');
    const program = parse(text, {
      ecmaVersion: 'latest',
      sourceType: 'module',
      locations: true,
      allowHashBang: true,
    });
    visit(program as unknown as SyntaxNode, (node) => {
      const line = node.loc?.start.line ?? 0;
      const literal = node.regex as { pattern: string; flags: string } | undefined;
      if (literal !== undefined) add(literal.pattern, literal.flags, `${file}:${line}`);
      const source = dynamicSource(node);
      if (source !== undefined) sites.push({ file, line, text: text.slice(source.start, source.end) });
    });
  }
  const loaded = await builtAtLoading(folder, new Set(sites.map((site) => site.file)));
  const undeclared: string[] = [];
  const used = new Set<string>();
  for (const site of sites) {
    const place = `${site.file}:${site.line}`;
    for (const expression of loaded.get(place) ?? []) add(expression.source, expression.flags, place);
    const declared = FORMS_OF_DYNAMIC.find((one) => one.file === site.file && one.argument === site.text);
    if (declared !== undefined) used.add(`${declared.file} ${declared.argument}`);
    for (const form of declared?.forms ?? []) add(form.source, form.flags, place);
    if (declared === undefined && !loaded.has(place)) undeclared.push(`${place} RegExp(${site.text})`);
  }
  for (const { file, argument } of FORMS_OF_DYNAMIC) {
    if (!used.has(`${file} ${argument}`)) undeclared.push(`${file} no longer has RegExp(${argument})`);
  }
  return { expressions: [...found.values()], undeclared };
}
