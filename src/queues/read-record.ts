import type { z } from 'zod';

/** What a stored record says, or why it cannot be understood. */
export type RecordReading<T> =
  | { readonly value: T; readonly broken?: undefined }
  | { readonly value?: undefined; readonly broken: string };

/**
 * Reads a stored JSON text; undefined where there is none. It never throws: a record that is damaged, or of another
 * version's making, must not keep all else of its job from being read, and only the caller knows what to do without it.
 */
export function readRecord<T>(
  schema: z.ZodType<T>,
  text: string | null | undefined,
): RecordReading<T> | undefined {
  if (text === null || text === undefined) return undefined;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    return { broken: text === '' ? 'it is an empty text' : `it is no JSON: ${thrown.message}` };
  }
  const { data, error } = schema.safeParse(json);
  if (error === undefined) return { value: data as T };
  const [issue] = error.issues;
  return { broken: `it has not the shape it should have: ${issue?.path.join('.')}: ${issue?.message}` };
}
