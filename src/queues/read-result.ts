import type { z } from 'zod';

/** Whether a value breaks a contract only by fields that the contract does not know, as the result of a newer worker does. */
export function hasOnlyUnknownFields({ issues }: z.ZodError): boolean {
  return issues.every(({ code }) => code === 'unrecognized_keys');
}

/** Reads a stored result. Fields that only a newer worker knows are left out. */
export function readResult<S extends z.ZodType>(
  schema: S,
  value: unknown,
): z.ZodSafeParseResult<z.output<S>> {
  const parsed = schema.safeParse(value);
  if (parsed.success || !hasOnlyUnknownFields(parsed.error)) return parsed;
  const known: unknown = structuredClone(value);
  for (const issue of parsed.error.issues) {
    if (issue.code !== 'unrecognized_keys') continue;
    const owner = issue.path.reduce<unknown>(memberOf, known);
    for (const key of issue.keys) Reflect.deleteProperty(owner as object, key);
  }
  return schema.safeParse(known);
}

function memberOf(value: unknown, name: PropertyKey): unknown {
  return (value as Readonly<Record<PropertyKey, unknown>>)[name];
}
