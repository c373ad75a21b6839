import type { z } from 'zod';

/** The value of a stored record, or why it cannot be parsed. */
export type RecordReading<T> =
  | { readonly value: T; readonly broken?: undefined }
  | { readonly value?: undefined; readonly broken: string };

/**
 * Parses a stored JSON text; undefined if there is none. It never throws: the rest of a job must stay readable if one
 * record is damaged or was written by another version, and only the caller knows what to do without the record.
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
    return { broken: text === '' ? 'it is an empty text' : `it is not valid JSON: ${thrown.message}` };
  }
  const { data, error } = schema.safeParse(json);
  if (error === undefined) return { value: data as T };
  const [issue] = error.issues;
  return { broken: `it does not have the expected form: ${issue?.path.join('.')}: ${issue?.message}` };
}
