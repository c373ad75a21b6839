import { z } from 'zod';

/** A setting whose text is JSON of this schema. */
export function jsonSetting<Value>(schema: z.ZodType<Value>) {
  return z.string().transform((text, context): Value => {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'expected JSON' });
      return z.NEVER;
    }
    const parsed = schema.safeParse(json);
    if (parsed.success) return parsed.data;
    context.addIssue({ code: 'custom', message: firstProblem(parsed.error) });
    return z.NEVER;
  });
}

/** The first thing that is wrong, with the path of the field. */
export function firstProblem({ issues: [issue] }: z.ZodError): string {
  const field = issue?.path.join('.') ?? '';
  const message = issue?.message ?? 'is not valid';
  return field === '' ? message : `${field}: ${message}`;
}
