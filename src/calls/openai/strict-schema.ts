/**
 * Whether a JSON schema is one that strict structured output takes: it is an object, and every object in it lists all of its
 * properties as required, and allows no others. The server rejects any other schema as strict.
 */
export function isStrict(schema: unknown): boolean {
  return isObject(schema) && isObject(schema.properties) && isStrictPart(schema);
}

function isStrictPart(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictPart);
  if (!isObject(schema)) return true;
  const { properties, $defs, ...keywords } = schema;
  // Both have names of the schema's author, which may be those of keywords.
  const named = [properties, $defs].flatMap((schemas) => (isObject(schemas) ? Object.values(schemas) : []));
  return (
    !('allOf' in keywords) &&
    (!isObject(properties) || isClosed(properties, keywords)) &&
    [...named, ...Object.values(keywords)].every(isStrictPart)
  );
}

function isClosed(
  properties: Readonly<Record<string, unknown>>,
  { required, additionalProperties }: Readonly<Record<string, unknown>>,
): boolean {
  if (additionalProperties !== false || !Array.isArray(required)) return false;
  return Object.keys(properties).every((name) => required.includes(name));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
