import { MAX_TAGS, RESERVED_TAGS } from '../common.js';
import type { JobKind } from '../kind.js';
import { fieldsWithQueues } from '../queue-fields.js';
import type { KindRegistry } from '../registry.js';
import { type FollowUp, type FollowUpProblem, nameOfFollowUp } from './contract.js';
import { canBe, canHold, describeType, FieldTypes } from './field-types.js';
import { type KnownPayload, knownPayloadOf, knownValue, shownValue } from './known-values.js';

/** Fields whose values an administrator restricts: a follow-up takes them from no result. */
const RESTRICTED_FIELDS: ReadonlySet<string> = new Set(['model', 'workspace']);

/** Fields of a payload that a follow-up does not set: the fleet does, or the follow-up has them itself. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['v', 'then']);

/** Maximum number of tags that a follow-up may set, besides those that the fleet sets. */
const MAX_OWN_TAGS = MAX_TAGS - RESERVED_TAGS.length;

interface ContractTypes {
  readonly payload: FieldTypes;
  readonly result: FieldTypes;
}

const typesByKind = new WeakMap<JobKind, ContractTypes>();

function typesOf(kind: JobKind): ContractTypes {
  const known = typesByKind.get(kind);
  if (known !== undefined) return known;
  const types = {
    payload: new FieldTypes(kind.payload, 'input'),
    result: new FieldTypes(kind.result, 'output'),
  };
  typesByKind.set(kind, types);
  return types;
}

/**
 * The first problem of the follow-ups of a job, with its path in the job's payload: a kind, field, value or mapping that
 * cannot be right, whatever the job returns.
 * @param known What is known of the job's payload.
 */
export function followUpProblem(
  kinds: KindRegistry,
  kind: JobKind,
  then: readonly FollowUp[],
  known: KnownPayload,
  path: readonly PropertyKey[] = ['then'],
): FollowUpProblem | undefined {
  const names = new Set<string>();
  for (const [at, followUp] of then.entries()) {
    const here = [...path, at];
    const name = nameOfFollowUp(followUp);
    if (names.has(name))
      return {
        path: [...here, 'name'],
        message: `two follow-ups have the name "${name}"; give one another name`,
      };
    names.add(name);
    const problem = problemOfOne(kinds, kind, followUp, known, here);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOfOne(
  kinds: KindRegistry,
  kind: JobKind,
  followUp: FollowUp,
  known: KnownPayload,
  path: readonly PropertyKey[],
): FollowUpProblem | undefined {
  if (!kinds.has(followUp.kind)) {
    const message = `"${followUp.kind}" is not a kind of job here; there are: ${kinds.names.join(', ')}`;
    return { path: [...path, 'kind'], message };
  }
  const next = kinds.get(followUp.kind);
  return (
    conditionProblem(kind, followUp, path) ??
    payloadProblem(next, followUp, path) ??
    mappingProblem(kind, next, followUp, path) ??
    missingProblem(next, followUp, path) ??
    copiedProblem(next, followUp, known, path) ??
    (followUp.then === undefined
      ? undefined
      : followUpProblem(kinds, next, followUp.then, knownPayloadOf(next, followUp), [...path, 'then']))
  );
}

/** A mapping of a field of the payload: its value is known before anything runs, unless a result has it. */
function copiedProblem(
  next: JobKind,
  { from = {} }: FollowUp,
  known: KnownPayload,
  path: readonly PropertyKey[],
): FollowUpProblem | undefined {
  for (const [name, source] of Object.entries(from)) {
    const [side, ...field] = source.split('.');
    const found = side === 'payload' ? knownValue(known, field) : 'unknown';
    if (found === 'unknown') continue;
    const at = [...path, 'from', name];
    if (found.value === undefined) return { path: at, message: `the job has no ${source}` };
    const issue = next.payload.shape[name]?.safeParse(found.value).error?.issues[0];
    if (issue === undefined) continue;
    return { path: at, message: `${source} is ${shownValue(found.value)}: ${issue.message}` };
  }
  return undefined;
}

function conditionProblem(
  kind: JobKind,
  { when = {} }: FollowUp,
  path: readonly PropertyKey[],
): FollowUpProblem | undefined {
  const { result } = typesOf(kind);
  for (const [name, wanted] of Object.entries(when)) {
    const at = [...path, 'when', name];
    const field = name.includes('.') ? undefined : result.at([name]);
    if (field === undefined) return { path: at, message: `a result of ${kind.name} has no field "${name}"` };
    for (const value of Array.isArray(wanted) ? wanted : [wanted]) {
      if (canBe(field, value)) continue;
      const message = `${name} is never ${JSON.stringify(value)}; it is ${describeType(field)}`;
      return { path: at, message };
    }
  }
  return undefined;
}

function payloadProblem(
  next: JobKind,
  { payload = {}, from = {} }: FollowUp,
  path: readonly PropertyKey[],
): FollowUpProblem | undefined {
  const { shape } = next.payload;
  for (const [name, value] of Object.entries(payload)) {
    const at = [...path, 'payload', name];
    if (OWN_FIELDS.has(name)) return { path: at, message: 'is not set here' };
    if (!Object.hasOwn(shape, name)) return { path: at, message: 'unknown field' };
    if (Object.hasOwn(from, name)) return { path: at, message: `is in "payload" and in "from"` };
    const issue = (shape[name] as (typeof shape)[string]).safeParse(value).error?.issues[0];
    if (issue !== undefined) return { path: [...at, ...issue.path], message: issue.message };
  }
  const tags: object = payload.tags ?? {};
  const reserved = RESERVED_TAGS.find((name) => name !== 'step' && Object.hasOwn(tags, name));
  if (reserved !== undefined)
    return { path: [...path, 'payload', 'tags', reserved], message: 'is set by the fleet' };
  if (Object.keys(tags).length <= MAX_OWN_TAGS) return undefined;
  return {
    path: [...path, 'payload', 'tags'],
    message: `a follow-up has at most ${MAX_OWN_TAGS} tags; the fleet adds ${RESERVED_TAGS.join(', ')}`,
  };
}

/** Whether a follow-up may copy a field only from the same field of the payload, because that one was checked. */
function isRestricted(next: JobKind, name: string): boolean {
  return RESTRICTED_FIELDS.has(name) || fieldsWithQueues(next).has(name);
}

function mappingProblem(
  kind: JobKind,
  next: JobKind,
  { from = {} }: FollowUp,
  path: readonly PropertyKey[],
): FollowUpProblem | undefined {
  for (const [name, source] of Object.entries(from)) {
    const at = [...path, 'from', name];
    const target = OWN_FIELDS.has(name) || name === 'tags' ? undefined : typesOf(next).payload.at([name]);
    if (target === undefined) return { path: at, message: `a payload of ${next.name} has no such field` };
    const [side = '', ...field] = source.split('.');
    if (isRestricted(next, name) && source !== `payload.${name}`)
      return { path: at, message: `may only be copied from "payload.${name}"` };
    if (fieldsWithQueues(next).has(name) && !fieldsWithQueues(kind).has(name))
      return { path: at, message: `names a pipeline queue, and that of ${kind.name} does not` };
    const found = typesOf(kind)[side === 'result' ? 'result' : 'payload'].at(field);
    if (found === undefined || field[0] === 'then' || field[0] === 'v')
      return { path: at, message: `a ${side} of ${kind.name} has no field "${field.join('.')}"` };
    if (!canHold(target, found)) {
      const message = `${source} is ${describeType(found)}, and ${name} takes ${describeType(target)}`;
      return { path: at, message };
    }
  }
  return undefined;
}

function missingProblem(
  next: JobKind,
  { payload = {}, from = {} }: FollowUp,
  path: readonly PropertyKey[],
): FollowUpProblem | undefined {
  const needed = [...typesOf(next).payload.required, ...Object.keys(next.suppliedByChild)];
  const missing = needed.find((name) => !Object.hasOwn(payload, name) && !Object.hasOwn(from, name));
  if (missing === undefined) return undefined;
  return { path, message: `${missing} of ${next.name} is neither in "payload" nor in "from"` };
}
