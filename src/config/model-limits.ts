import { z } from 'zod';

const perMinute = z.number().positive().optional();

/** Limits a minute by model; `*` means every model that is not named. */
export const ModelLimitsSchema = z.record(
  z.string().min(1),
  z.strictObject({ requests: perMinute, inputTokens: perMinute, outputTokens: perMinute }),
);
export type ModelLimits = z.infer<typeof ModelLimitsSchema>;

/** The same, read from JSON. */
export const ModelLimitsTextSchema = z.string().transform((text, context): ModelLimits => {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'expected JSON' });
    return z.NEVER;
  }
  const parsed = ModelLimitsSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  context.addIssue({ code: 'custom', message: modelLimitsProblem(parsed.error) });
  return z.NEVER;
});

/** What is wrong with limits, with the path of the field. */
export function modelLimitsProblem({ issues: [issue] }: z.ZodError): string {
  const field = issue?.path.join('.') ?? '';
  const message = issue?.message ?? 'is not valid';
  return field === '' ? message : `${field}: ${message}`;
}
