/**
 * Whether a JSON schema is one that strict structured output takes: every object in it lists all of its properties as
 * required, and allows no others. The server rejects any other schema as strict.
 */
export function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== 'object' || schema === null) return true;
  const { properties, required, additionalProperties } = schema as Readonly<Record<string, unknown>>;
  if (isObject(properties)) {
    if (additionalProperties !== false || !Array.isArray(required)) return false;
    if (!Object.keys(properties).every((name) => required.includes(name))) return false;
    return Object.values(properties).every(isStrict);
  }
  return Object.values(schema).every(isStrict);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
