import { z } from 'zod';
import { nameField } from '../names.js';

/** Maximum depth of follow-ups of follow-ups. */
export const MAX_FOLLOW_UP_DEPTH = 7;
/** Maximum number of follow-ups in one payload, at all depths together. */
export const MAX_FOLLOW_UPS = 50;
/** Maximum number of values that a condition lists for one field. */
const MAX_VALUES = 100;

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export type Scalar = z.infer<typeof scalar>;

/** Name of a field, or of a field in an object: `solution.content`. */
const FIELD = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;

/** A job that the fleet starts when another one of the fleet's kinds has a result. */
export const FollowUpSchema = z
  .strictObject({
    kind: nameField(100).describe('Kind of the follow-up.'),
    name: nameField(64).optional().describe('Name among the follow-ups of a job; default: its kind.'),
    when: z
      .record(
        z.string().regex(FIELD, 'is not the name of a field'),
        z.union([scalar, z.array(scalar).min(1).max(MAX_VALUES)]),
      )
      .optional()
      .describe(
        'Fields of the result, each with the value or the list of values that it must have; default: always.',
      ),
    payload: z.record(z.string(), z.unknown()).optional().describe('Fields of the payload.'),
    from: z
      .record(
        z.string(),
        z
          .string()
          .regex(
            /^(?:result|payload)(?:\.[A-Za-z_]\w*)+$/,
            'must be "result." or "payload." and the name of a field',
          ),
      )
      .optional()
      .describe(
        'Fields of the payload that are copied from the result or the payload of the job: {"output": "result.solution.content"}.',
      ),
    get then(): z.ZodOptional<z.ZodArray<typeof FollowUpSchema>> {
      return z.array(FollowUpSchema).optional();
    },
  })
  .meta({ id: 'FollowUp' });
export type FollowUp = z.infer<typeof FollowUpSchema>;

export const thenField = z
  .array(FollowUpSchema)
  .describe('Jobs that are started with the result of this one, each if its condition holds.');

/** The follow-ups of a payload that has passed its contract. */
export function followUpsOf(payload: Readonly<Record<string, unknown>>): readonly FollowUp[] | undefined {
  return payload.then as readonly FollowUp[] | undefined;
}

/** Name of a follow-up among those of its job. */
export function nameOfFollowUp({ name, kind }: Pick<FollowUp, 'name' | 'kind'>): string {
  return name ?? kind;
}

export interface FollowUpProblem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** zod drops a key named `__proto__` from a record. A condition without it would hold always, so it is refused. */
function protoProblem(entry: unknown, path: readonly PropertyKey[]): FollowUpProblem | undefined {
  const fields = (entry ?? {}) as Readonly<Record<string, unknown>>;
  const field = ['when', 'from', 'payload'].find((name) => Object.hasOwn(fields[name] ?? {}, '__proto__'));
  if (field === undefined) return undefined;
  return { path: [...path, field, '__proto__'], message: 'is not the name of a field' };
}

/** A kind's definition has its name, which is what a follow-up is stored with. */
function kindProblem(entry: unknown, path: readonly PropertyKey[]): FollowUpProblem | undefined {
  const kind = (entry as { kind?: unknown } | null)?.kind;
  if (typeof kind !== 'object' || kind === null) return undefined;
  const name = (kind as { name?: unknown }).name;
  const use = typeof name === 'string' ? `its name, ${JSON.stringify(name.slice(0, 100))}` : 'its name';
  return { path: [...path, 'kind'], message: `is the definition of a kind; use ${use}` };
}

/**
 * Checks what must be checked before a schema parses follow-ups: that they are not nested too deep and not too many, because
 * an object that contains itself has no end, that no key is `__proto__`, and that kinds are named.
 */
export function boundsProblem(then: unknown): FollowUpProblem | undefined {
  let count = 0;
  const visit = (list: unknown, path: readonly PropertyKey[], depth: number): FollowUpProblem | undefined => {
    if (!Array.isArray(list) || list.length === 0) return undefined;
    if (depth > MAX_FOLLOW_UP_DEPTH)
      return { path, message: `follow-ups are nested at most ${MAX_FOLLOW_UP_DEPTH} deep` };
    count += list.length;
    if (count > MAX_FOLLOW_UPS)
      return { path, message: `a payload has at most ${MAX_FOLLOW_UPS} follow-ups` };
    for (const [at, entry] of list.entries()) {
      const here = [...path, at];
      const problem =
        protoProblem(entry, here) ??
        kindProblem(entry, here) ??
        visit((entry as { then?: unknown } | null)?.then, [...here, 'then'], depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  return visit(then, ['then'], 1);
}
