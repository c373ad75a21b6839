import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Node, parse } from 'acorn';

export interface FoundExpression {
  readonly source: string;
  readonly flags: string;
  /** File and line of the compiled code, for each location that uses the expression. */
  readonly locations: string[];
}

export interface Inventory {
  readonly expressions: readonly FoundExpression[];
  /** Locations that build an expression in a way that this inventory cannot follow. */
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
  readonly form?: string;
}

/** The source that a template makes of names: each value that is in one of ours is a name, escaped or plain. */
function formOf(source: SyntaxNode): string | undefined {
  if (source.type !== 'TemplateLiteral') return undefined;
  const quasis = source.quasis as readonly { readonly value: { readonly cooked: string } }[];
  return quasis.map((quasi) => quasi.value.cooked).join('name');
}

/** The expressions that these modules build while they are loaded, by the location that builds them. */
async function builtAtLoading(folder: string, files: Iterable<string>): Promise<Map<string, RegExp[]>> {
  const built = new Map<string, RegExp[]>();
  const Real = globalThis.RegExp;
  globalThis.RegExp = new Proxy(Real, {
    construct(target, args, newTarget): object {
      const expression = Reflect.construct(target, args, newTarget);
      const frame = new Error().stack?.split('\n').find((line) => line.includes(pathToFileURL(folder).href));
      const location = /([^/\s(]+(?:\/[^/\s(]+)*\.js:\d+):\d+\)?$/.exec(frame ?? '')?.[1];
      if (location !== undefined) {
        const key = location.slice(location.indexOf('/dist/') === -1 ? 0 : location.indexOf('/dist/') + 6);
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
  const add = (source: string, flags: string, location: string): void => {
    const known = found.get(`${flags}/${source}`);
    if (known === undefined) found.set(`${flags}/${source}`, { source, flags, locations: [location] });
    else known.locations.push(location);
  };
  const sites: Site[] = [];
  // What the bundle of the command line builds, the modules in it build as well.
  // The bundles of the command line and of threads end with `.cjs`: their modules are here by themselves.
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
      if (source !== undefined) {
        const form = formOf(source);
        sites.push({ file, line, text: text.slice(source.start, source.end), ...(form && { form }) });
      }
    });
  }
  const loaded = await builtAtLoading(folder, new Set(sites.map((site) => site.file)));
  const undeclared: string[] = [];
  for (const site of sites) {
    const location = `${site.file}:${site.line}`;
    const built = loaded.get(location);
    for (const expression of built ?? []) add(expression.source, expression.flags, location);
    if (built === undefined && site.form !== undefined) add(new RegExp(site.form).source, '', location);
    if (built === undefined && site.form === undefined) undeclared.push(`${location} RegExp(${site.text})`);
  }
  return { expressions: [...found.values()], undeclared };
}
