import { z } from 'zod';
import type { Scalar } from './contract.js';

/** The part of JSON Schema that zod generates for contracts. */
interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
}

/** The types that a field may have: one schema for each alternative of a union. */
export type FieldType = readonly JsonSchema[];

/** The fields of a contract. */
export class FieldTypes {
  readonly #root: JsonSchema;

  /** @param io `input` for what a contract accepts, `output` for what it returns */
  constructor(schema: z.ZodType, io: 'input' | 'output') {
    this.#root = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema;
  }

  /** The type of a field, by its path; undefined if no alternative of the contract has it. */
  at(path: readonly string[]): FieldType | undefined {
    let types = this.#alternatives(this.#root);
    for (const name of path) {
      types = types.flatMap((type) => {
        const field = Object.hasOwn(type.properties ?? {}, name) ? type.properties?.[name] : undefined;
        const other = typeof type.additionalProperties === 'object' ? type.additionalProperties : undefined;
        // A schema without restrictions has every field.
        const found = field ?? other ?? (isAny(type) ? {} : undefined);
        return found === undefined ? [] : this.#alternatives(found);
      });
      if (types.length === 0) return undefined;
    }
    return types;
  }

  /** The names of the fields that every payload must have. */
  get required(): readonly string[] {
    return this.#root.required ?? [];
  }

  get names(): readonly string[] {
    return Object.keys(this.#root.properties ?? {});
  }

  #alternatives(schema: JsonSchema): JsonSchema[] {
    if (schema.$ref !== undefined) {
      const definition = this.#root.$defs?.[schema.$ref.replace(/^#\/\$defs\//, '')];
      return definition === undefined ? [{}] : this.#alternatives(definition);
    }
    const union = schema.anyOf ?? schema.oneOf;
    return union === undefined ? [schema] : union.flatMap((member) => this.#alternatives(member));
  }
}

function isAny(schema: JsonSchema): boolean {
  return schema.type === undefined && schema.enum === undefined && !('const' in schema);
}

/** The values that a field is restricted to. */
function valuesOf(schema: JsonSchema): readonly unknown[] | undefined {
  return 'const' in schema ? [schema.const] : schema.enum;
}

function typesOf(schema: JsonSchema): readonly string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  return type ?? [...new Set((valuesOf(schema) ?? []).map(jsonType))];
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Whether some value of the one type is a value of the other. */
export function canHold(target: FieldType, source: FieldType): boolean {
  return source.some((from) => target.some((to) => overlap(to, from)));
}

function overlap(to: JsonSchema, from: JsonSchema): boolean {
  if (isAny(to) || isAny(from)) return true;
  const [allowed, possible] = [valuesOf(to), valuesOf(from)];
  if (allowed !== undefined && possible !== undefined)
    return allowed.some((value) => possible.includes(value));
  const types = typesOf(to);
  const shared = typesOf(from).filter((type) => types.includes(type) || isNumber(type, types));
  return shared.some((type) => {
    if (type === 'object') return objectsOverlap(to, from);
    return (
      type !== 'array' || to.items === undefined || from.items === undefined || overlap(to.items, from.items)
    );
  });
}

/** Whether an object can have the fields that the other one requires, and need not have fields that it does not take. */
function objectsOverlap(to: JsonSchema, from: JsonSchema): boolean {
  const meet = (name: string) => {
    const [target, source] = [fieldIn(to, name), fieldIn(from, name)];
    return target !== undefined && source !== undefined && overlap(target, source);
  };
  return [...(to.required ?? []), ...(from.required ?? [])].every(meet);
}

/** The schema of a field of an object; undefined if it cannot have the field. */
function fieldIn(
  { properties, additionalProperties = {} }: JsonSchema,
  name: string,
): JsonSchema | undefined {
  const field = Object.hasOwn(properties ?? {}, name) ? properties?.[name] : undefined;
  if (field !== undefined) return field;
  if (typeof additionalProperties === 'object') return additionalProperties;
  return additionalProperties ? {} : undefined;
}

function isNumber(type: string, among: readonly string[]): boolean {
  return (type === 'integer' && among.includes('number')) || (type === 'number' && among.includes('integer'));
}

/** Whether a field may have a value. */
export function canBe(field: FieldType, value: Scalar): boolean {
  return field.some((schema) => overlap(schema, { const: value }));
}

/** The type of a field in words: `string`, `"clean" or "corrected"`. */
export function describeType(field: FieldType): string {
  const words = field.flatMap((schema) => {
    const values = valuesOf(schema);
    if (values !== undefined) return values.map((value) => JSON.stringify(value));
    return isAny(schema) ? ['any value'] : typesOf(schema).map((type) => typeInWords(type, schema));
  });
  return [...new Set(words)].join(' or ');
}

function typeInWords(type: string, { items, required = [] }: JsonSchema): string {
  if (type === 'array' && items !== undefined) return `array of ${describeType([items])}`;
  return type === 'object' && required.length > 0 ? `object with ${required.join(', ')}` : type;
}
