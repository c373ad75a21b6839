import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

type JsonSchema = Record<string, unknown>;

/**
 * Collects the schemas of a document. A zod schema with an id (`meta({id})`) is written once and referenced; its input in a
 * request and its output in a response can differ (defaults), and then have two names.
 */
export class ComponentRegistry {
  readonly #schemas = new Map<string, JsonSchema>();

  get schemas(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => a.localeCompare(b)));
  }

  /** JSON Schema of a zod schema, or a reference to it. */
  reference(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const written = z.toJSONSchema(schema, {
      io,
      target: 'draft-2020-12',
      unrepresentable: 'any',
    }) as JsonSchema;
    const { $schema: _dialect, $defs, id, ...own } = written;
    const names = new Map<string, string>();
    const definitions = Object.entries(($defs as Record<string, JsonSchema> | undefined) ?? {});
    for (const [name, definition] of definitions)
      names.set(`#/$defs/${name}`, this.#nameFor(name, definition, io));
    if (typeof id === 'string') names.set('#', this.#nameFor(id, own, io));
    for (const [name, definition] of definitions)
      this.#keep(names.get(`#/$defs/${name}`) ?? name, definition, names);
    if (typeof id !== 'string') return renamed(own, names) as JsonSchema;
    const name = names.get('#') ?? id;
    this.#keep(name, own, names);
    return { $ref: reference(name) };
  }

  #nameFor(name: string, definition: JsonSchema, io: 'input' | 'output'): string {
    const { id: _id, ...own } = definition;
    const known = this.#schemas.get(name);
    if (known === undefined) return name;
    const plain = renamed(own, new Map(), this.#schemas.keys());
    return isDeepStrictEqual(known, plain) ? name : `${name}${io === 'input' ? 'Input' : ''}`;
  }

  #keep(name: string, definition: JsonSchema, names: ReadonlyMap<string, string>): void {
    const { id: _id, ...own } = definition;
    this.#schemas.set(name, renamed(own, names) as JsonSchema);
  }
}

function reference(name: string): string {
  return `#/components/schemas/${name}`;
}

/** A schema whose references point to the components of the document. */
function renamed(value: unknown, names: ReadonlyMap<string, string>, known?: Iterable<string>): unknown {
  const all = known === undefined ? names : new Map([...known].map((name) => [`#/$defs/${name}`, name]));
  if (Array.isArray(value)) return value.map((item) => renamed(item, all));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (key !== '$ref' || typeof item !== 'string') return [key, renamed(item, all)];
      const name = all.get(item);
      return [key, name === undefined ? item : reference(name)];
    }),
  );
}
