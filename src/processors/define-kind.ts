import type { z } from 'zod';
import { DEFAULT_JOB, type JobDefaults, type JobKind, type KindLimits } from '../queues/kind.js';
import type { Work } from './processor.js';

/** What a kind is defined with. */
export interface KindDefinition<Name extends string, Payload extends z.ZodObject, Result extends z.ZodType>
  extends Pick<JobKind, 'fieldsSince' | 'queueFields' | 'setByChild'> {
  readonly name: Name;
  /** One sentence for users. */
  readonly summary?: string;
  readonly payload: Payload;
  readonly result: Result;
  readonly limits?: KindLimits;
  readonly suppliedByChild?: JobKind['suppliedByChild'];
  readonly defaults?: Partial<JobDefaults>;
  /** Turns a validated payload into a result. Throws a FleetError if it cannot. */
  process(payload: z.output<Payload>, work: Work): Promise<z.input<Result>>;
}

/** A job kind with all that a worker needs. */
export interface Kind<
  Name extends string = string,
  Payload extends z.ZodObject = z.ZodObject,
  Result extends z.ZodType = z.ZodType,
> extends JobKind<Name, Payload, Result> {
  process(payload: z.output<Payload>, work: Work): Promise<z.input<Result>>;
}

/** Defines a job kind: its contract, its processor and its options. */
export function defineKind<const Name extends string, Payload extends z.ZodObject, Result extends z.ZodType>({
  summary,
  limits = {},
  suppliedByChild = {},
  defaults,
  ...kind
}: KindDefinition<Name, Payload, Result>): Kind<Name, Payload, Result> {
  return {
    ...kind,
    summary: summary ?? `Jobs of the kind ${kind.name}.`,
    limits,
    suppliedByChild,
    defaults: { ...DEFAULT_JOB, ...defaults },
  };
}
