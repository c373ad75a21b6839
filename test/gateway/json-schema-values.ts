import fc from 'fast-check';
import type { OpenApiDocument } from '../../src/gateway/openapi/document.js';

type Schema = Readonly<Record<string, unknown>>;

const HOSTILE = [
  '',
  ' ',
  '\0',
  '\n',
  '__proto__',
  'constructor',
  '🎈',
  '\u202e',
  '<img src=x onerror=alert(1)>',
  '../../x',
  '-1',
  'a:b',
];

/** Texts of a length, ordinary and hostile. */
function texts({ minLength = 0, maxLength = 300 }: Schema): fc.Arbitrary<string> {
  const shortest = Number(minLength);
  const any = fc.string({
    unit: 'binary',
    minLength: shortest,
    maxLength: Math.min(Number(maxLength), shortest + 200),
  });
  return fc.oneof(any, fc.constantFrom(...HOSTILE.filter((text) => text.length >= shortest)));
}

/**
 * Values that a JSON Schema allows, and now and then one that it does not: a number out of range, a text too short.
 * Knows the part of JSON Schema that the document uses.
 */
export function valuesOf(schema: Schema, document: OpenApiDocument, depth = 6): fc.Arbitrary<unknown> {
  const inner = (part: unknown) => valuesOf(part as Schema, document, depth - 1);
  if (typeof schema.$ref === 'string') {
    return inner(document.components.schemas[schema.$ref.split('/').at(-1) ?? '']);
  }
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const choices = (schema.anyOf ?? schema.oneOf) as unknown[] | undefined;
  if (choices !== undefined) return fc.oneof(...choices.map(inner));
  switch (schema.type) {
    case 'string':
      return texts(schema);
    case 'integer':
      return fc.oneof(fc.integer({ min: -2, max: 2_000 }), fc.maxSafeInteger());
    case 'number':
      return fc.oneof(fc.double({ min: 0, max: 1 }), fc.double({ noNaN: true }));
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(inner(schema.items ?? {}), { maxLength: 3 });
    case 'object':
      return objects(schema, inner, depth);
    default:
      return depth <= 0 ? fc.constant(null) : fc.json({ maxDepth: 2 }).map((text) => JSON.parse(text));
  }
}

/** A schema that contains itself has no end: deep inside, objects have only the properties that they need. */
function objects(
  schema: Schema,
  inner: (part: unknown) => fc.Arbitrary<unknown>,
  depth: number,
): fc.Arbitrary<unknown> {
  const required = (schema.required ?? []) as string[];
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>).filter(
    ([name]) => depth > 0 || required.includes(name),
  );
  const fixed = fc.record(Object.fromEntries(properties.map(([name, part]) => [name, inner(part)])), {
    requiredKeys: required,
  });
  if (typeof schema.additionalProperties !== 'object') return fixed;
  const others = fc.dictionary(texts({}), inner(schema.additionalProperties), { maxKeys: 3 });
  return fc.tuple(fixed, others).map(([known, more]) => ({ ...more, ...(known as object) }));
}
