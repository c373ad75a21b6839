import type { z } from 'zod';

/** Options of a job of one kind, unless the producer sets others. */
export interface JobDefaults {
  /** Maximum number of attempts. */
  readonly attempts: number;
  /** First wait before another attempt, in milliseconds; doubles every time. */
  readonly backoffMs: number;
}

/** Limits of the jobs of one kind, where they differ from the configured ones. */
export interface KindLimits {
  /** Top-level fields of the payload that may contain a long text (the larger of the two size limits). */
  readonly largeTexts?: readonly string[];
  /** Maximum number of jobs of the kind that one worker runs at the same time; default: that of the worker. */
  readonly concurrency?: number;
  /** Maximum duration of an attempt in milliseconds; default: that of the worker. */
  readonly timeoutMs?: number;
}

/** What a finished child job hands to its parent. `kind` is the name of the child's queue. */
export interface ChildResult {
  readonly kind: string;
  readonly result: unknown;
}

/** Takes the value of a payload field from a child's result; undefined if that child does not supply it. */
type SupplyFromChild = (child: ChildResult) => unknown;

/**
 * The contract of a job kind: one name for a queue, its payload and its result. It is all that submitting needs; a worker
 * also needs the kind's processor.
 */
export interface JobKind<
  Name extends string = string,
  Payload extends z.ZodObject = z.ZodObject,
  Result extends z.ZodType = z.ZodType,
> {
  /** Name of the kind and of its queue. */
  readonly name: Name;
  /** One sentence for users. */
  readonly summary: string;
  readonly payload: Payload;
  readonly result: Result;
  readonly limits: KindLimits;
  /** Payload fields that a child's result may supply, and how; a payload may leave them out. */
  readonly suppliedByChild: Readonly<Record<string, SupplyFromChild>>;
  /** Optional payload fields that a child's result may set as well. */
  readonly setByChild?: Readonly<Record<string, SupplyFromChild>>;
  readonly defaults: JobDefaults;
  /** Paths of payload fields that name pipeline queues, in which the processor starts jobs. */
  readonly queueFields?: readonly string[];
  /**
   * Version that introduced a payload field, for fields that version 1 does not have: of all contracts if the kind is built
   * in, otherwise of the kind.
   */
  readonly fieldsSince?: Readonly<Record<string, number>>;
}

/** Declares the contract of a built-in kind and keeps its literal types. */
export function defineContract<Name extends string, Payload extends z.ZodObject, Result extends z.ZodType>(
  kind: JobKind<Name, Payload, Result>,
): JobKind<Name, Payload, Result> {
  return kind;
}

/** Three attempts, 2 s and 4 s apart: enough for a Redis restart, too few to waste money. */
export const DEFAULT_JOB: JobDefaults = { attempts: 3, backoffMs: 2_000 };
