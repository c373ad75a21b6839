import { z } from 'zod';

/** What Python itself says about a text. Positions are 1-based; the column counts code points. */
export type InterpreterResult =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly line: number | null;
      readonly column: number | null;
      readonly message: string;
    };

/** Why there is no result: no such interpreter, it died or took too long, or its parser gave up. */
export type NoResult = 'unavailable' | 'died' | 'timeout' | 'undecided';

const AnswerSchema = z.union([
  z.object({ ok: z.literal(true) }),
  z.object({
    ok: z.literal(false),
    line: z.number().nullable(),
    column: z.number().nullable(),
    message: z.string(),
  }),
  z.object({ undecided: z.string() }),
]);

/** The answer that a line of the child holds. */
export function answerIn(line: string): InterpreterResult | NoResult {
  const answer = AnswerSchema.safeParse(JSON.parse(line));
  if (!answer.success || 'undecided' in answer.data) return 'undecided';
  return answer.data;
}
