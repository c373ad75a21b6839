import type { z } from 'zod';
import { PayloadError } from '../errors.js';
import { nearestName } from '../nearest-name.js';
import { newerContract } from './contract-version.js';
import { boundsProblem, followUpsOf } from './follow-ups/contract.js';
import { followUpProblem } from './follow-ups/rules.js';
import type { ChildResult, JobKind } from './kind.js';
import { type BuiltInKindName, KINDS, type KindRegistry, type PayloadOf } from './registry.js';

/** Limits of single texts in a payload, in bytes of UTF-8. */
export interface TextLimits {
  readonly textBytes: number;
  /** For the fields that a kind names as `largeTexts`. */
  readonly largeTextBytes: number;
  /** For data and results of jobs in pipeline queues, as JSON; default: 65,536. */
  readonly dataBytes?: number;
}

export const DEFAULT_TEXT_LIMITS: TextLimits = { textBytes: 2 ** 20, largeTextBytes: 16 * 2 ** 20 };

/** Limit of data and results of jobs in pipeline queues, in bytes, if none is set. */
const DEFAULT_PIPELINE_DATA_BYTES = 65_536;

export function pipelineDataBytes({ dataBytes = DEFAULT_PIPELINE_DATA_BYTES }: TextLimits): number {
  return dataBytes;
}

/** Minimum of the limit for all texts of a job together, in bytes. */
const MIN_TOTAL_BYTES = 64 * 2 ** 20;

/** Limit of all texts of a job together, in bytes of UTF-8; each is counted as often as it occurs in the job. */
export function totalTextBytes({ textBytes, largeTextBytes }: TextLimits = DEFAULT_TEXT_LIMITS): number {
  return Math.max(MIN_TOTAL_BYTES, 4 * textBytes, 4 * largeTextBytes);
}

/** Path of a field as users write it: `solution.content`, `previousBlocks[3]`. */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

/** The first problem of a value, as the path of its field and a sentence. */
export function firstIssue(error: z.ZodError): { field: string; message: string } {
  const issue = error.issues[0];
  if (issue === undefined) return { field: '', message: 'is not valid' };
  const misspelled = misspelledField(error, issue);
  if (misspelled !== undefined) return misspelled;
  if (issue.code === 'unrecognized_keys') {
    const path = issue.path.concat(issue.keys[0] ?? '');
    return { field: fieldPath(path), message: 'unknown field' };
  }
  const others = unknownBeside(error, issue);
  const hint = isMissing(issue) && others[0] !== undefined ? `; "${others[0]}" is not a field here` : '';
  return { field: fieldPath(issue.path), message: `${issueMessage(issue)}${hint}` };
}

function isMissing(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
}

/** What is wrong with a field: one that is missing has the wrong type for zod. */
export function issueMessage(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_type' || !isMissing(issue)) return issue.message;
  return `is missing (expected ${issue.expected})`;
}

/** The unknown fields of the object that has an invalid field. */
function unknownBeside(error: z.ZodError, { path }: z.core.$ZodIssue): string[] {
  const parent = fieldPath(path.slice(0, -1));
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' && fieldPath(issue.path) === parent ? issue.keys : [],
  );
}

/** The unknown field beside a missing one whose name it resembles: it says more than that the other one is missing. */
function misspelledField(
  error: z.ZodError,
  missing: z.core.$ZodIssue,
): { field: string; message: string } | undefined {
  const parent = missing.path.slice(0, -1);
  const name = missing.path.at(-1);
  if (missing.code !== 'invalid_type' || typeof name !== 'string') return undefined;
  const unknown = unknownBeside(error, missing).find((key) => nearestName(key, [name]) !== undefined);
  if (unknown === undefined) return undefined;
  return { field: fieldPath([...parent, unknown]), message: `unknown field; did you mean "${name}"?` };
}

/** A contract: a built-in kind may be named. */
type ContractRef = BuiltInKindName | JobKind;

function contractOf(kind: ContractRef): JobKind {
  return typeof kind === 'string' ? KINDS[kind] : kind;
}

function rejectPayload(kind: JobKind, field: string, message: string): never {
  throw new PayloadError('invalid-payload', `${kind.name}: ${field || 'payload'}: ${message}`, { field });
}

/**
 * Validates a payload against the contract of its kind. Fields that a child's result supplies may be missing.
 * @throws PayloadError `invalid-payload` with the path of the first invalid field (unknown fields too),
 *   `newer-contract` if a newer producer wrote the payload.
 */
export function parsePayload<K extends ContractRef>(kindOrName: K, data: unknown): PayloadOf<K> {
  const kind = contractOf(kindOrName);
  const version = (data as { v?: unknown } | null | undefined)?.v;
  const newer = newerContract(kind, version);
  if (newer !== undefined) throw new PayloadError('newer-contract', `${kind.name}: ${newer}`, { field: 'v' });
  const unbounded = boundsProblem((data as { then?: unknown } | null | undefined)?.then);
  if (unbounded !== undefined) rejectPayload(kind, fieldPath(unbounded.path), unbounded.message);
  const parsed = kind.payload.safeParse(data);
  if (parsed.success) return parsed.data as PayloadOf<K>;
  const { field, message } = firstIssue(parsed.error);
  return rejectPayload(kind, field, message);
}

/**
 * Checks the follow-ups that a payload declares.
 * @throws PayloadError `invalid-payload` with the path of the kind, condition or mapping that cannot be right.
 */
export function checkFollowUps(
  kinds: KindRegistry,
  kind: JobKind,
  payload: Readonly<Record<string, unknown>>,
): void {
  const then = followUpsOf(payload);
  if (then === undefined) return;
  const problem = followUpProblem(kinds, kind, then, { fields: payload, unknown: new Set() });
  if (problem !== undefined) rejectPayload(kind, fieldPath(problem.path), problem.message);
}

/**
 * A payload with every field: missing fields are taken from the results of the job's children, which may set optional ones too.
 * @throws PayloadError naming the field that neither the payload nor a child supplies.
 */
export function completePayload<K extends ContractRef>(
  kindOrName: K,
  payload: PayloadOf<K>,
  children: readonly ChildResult[],
): PayloadOf<K> {
  const kind = contractOf(kindOrName);
  const fields = payload as Readonly<Record<string, unknown>>;
  const missing = Object.entries(kind.suppliedByChild).filter(([field]) => fields[field] === undefined);
  if (missing.length === 0) return payload;
  const complete: Record<string, unknown> = { ...payload };
  for (const [field, supply] of missing) {
    const value = children.map(supply).find((candidate) => candidate !== undefined);
    if (value === undefined) rejectPayload(kind, field, 'is missing, and no child job supplies it');
    complete[field] = value;
  }
  for (const [field, supply] of Object.entries(kind.setByChild ?? {})) {
    const value = children.map(supply).find((candidate) => candidate !== undefined);
    if (value !== undefined) complete[field] = value;
  }
  return parsePayload(kindOrName, complete);
}

/**
 * What a processor returned, as the contract of its kind has it.
 * @param failure Makes the error of a result that breaks the contract.
 * @throws what `failure` makes.
 */
export function checkedResult(
  kind: JobKind,
  result: unknown,
  failure: (message: string, cause: unknown) => Error,
): unknown {
  const { data, error } = kind.result.safeParse(result);
  if (error === undefined) return data;
  const { field, message: why } = firstIssue(error);
  const at = field === '' ? 'result' : `result.${field}`;
  throw failure(
    `the processor of ${kind.name} returned a result that breaks its contract: ${at}: ${why}`,
    error,
  );
}

function* texts(value: unknown, path: PropertyKey[]): Generator<[PropertyKey[], string]> {
  if (typeof value === 'string') yield [path, value];
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* texts(item, [...path, index]);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) yield* texts(item, [...path, key]);
  }
}

/**
 * Checks the size of every text in a payload, and of all together.
 * @throws PayloadError `payload-too-large` with the field, its size and the limit.
 */
export function checkTextSizes(kindOrName: ContractRef, payload: object, limits: TextLimits): void {
  const kind = contractOf(kindOrName);
  const totalLimit = totalTextBytes(limits);
  let total = 0;
  for (const [path, text] of texts(payload, [])) {
    total += Buffer.byteLength(text, 'utf8');
    if (total > totalLimit) {
      throw new PayloadError(
        'payload-too-large',
        `${kind.name}: the texts of the payload have more than ${totalLimit} bytes in total`,
        { field: String(path[0]) },
      );
    }
    const limit = kind.limits.largeTexts?.includes(String(path[0]))
      ? limits.largeTextBytes
      : limits.textBytes;
    // A UTF-16 code unit is at most three bytes of UTF-8, so most texts need no exact count.
    if (text.length * 3 <= limit) continue;
    const bytes = Buffer.byteLength(text, 'utf8');
    if (bytes <= limit) continue;
    const field = fieldPath(path);
    throw new PayloadError(
      'payload-too-large',
      `${kind.name}: ${field} has ${bytes} bytes, the limit is ${limit} bytes`,
      { field },
    );
  }
}
