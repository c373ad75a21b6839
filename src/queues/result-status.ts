import { z } from 'zod';

/** The parts of a result that say in a word what came out, by kind. */
const STATUSES: Readonly<Record<string, z.ZodType<string>>> = {
  'solution-check': z
    .object({ status: z.string(), contamination: z.object({ status: z.string() }).optional() })
    .transform(({ status, contamination }) =>
      contamination === undefined ? status : `${status}, ${contamination.status}`,
    ),
  contamination: z
    .object({ contaminated: z.boolean(), note: z.string().optional() })
    .transform(({ contaminated, note }) => {
      if (contaminated) return 'contaminated';
      return note === undefined ? 'not contaminated' : 'not compared';
    }),
  'refinement-loop': z.object({ outcome: z.string() }).transform(({ outcome }) => outcome),
};

/** What came out of a job in a word, for lists; undefined for kinds without a status. */
export function resultStatusOf(kind: string, result: unknown): string | undefined {
  return Object.hasOwn(STATUSES, kind) ? STATUSES[kind]?.safeParse(result).data : undefined;
}
