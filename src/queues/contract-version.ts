import { BASE_FIELDS_SINCE, CONTRACT_VERSION } from './common.js';
import type { JobKind } from './kind.js';
import { KINDS } from './registry.js';

/**
 * The authors of a kind that is not built in count its versions themselves. A payload's `v` has that version in thousands,
 * and the fleet's below; so neither can be taken for the other, and a worker of any age sees that it is higher.
 */
const OWN_VERSION = 1_000;

/** The first contract version that knows all fields of a payload: the producer writes it into the payload. */
export function contractVersionOf(kind: JobKind, payload: object): number {
  const { fieldsSince = {} } = kind;
  const fields = Object.keys(payload);
  const first = (since: Readonly<Record<string, number>>) =>
    Math.max(1, ...fields.map((field) => (Object.hasOwn(since, field) ? (since[field] ?? 1) : 1)));
  if (isBuiltIn(kind)) return first({ ...BASE_FIELDS_SINCE, ...fieldsSince });
  const own = first(fieldsSince);
  return first(BASE_FIELDS_SINCE) + (own === 1 ? 0 : own * OWN_VERSION);
}

/** A sentence about the contract version of a payload that is newer than what this program knows; otherwise undefined. */
export function newerContract(kind: JobKind, version: unknown): string | undefined {
  if (typeof version !== 'number') return undefined;
  const fleet = version % OWN_VERSION;
  const own = Math.floor(version / OWN_VERSION);
  if (isBuiltIn(kind) || own === 0) {
    return version > CONTRACT_VERSION ? sentence(version, CONTRACT_VERSION) : undefined;
  }
  if (fleet > CONTRACT_VERSION) return sentence(fleet, CONTRACT_VERSION);
  const known = Math.max(1, ...Object.values(kind.fieldsSince ?? {}));
  return own > known ? `${sentence(own, known)} of the kind` : undefined;
}

function sentence(version: number, known: number): string {
  return `the payload has contract version ${version}, this worker supports up to ${known}`;
}

function isBuiltIn({ name }: JobKind): boolean {
  return Object.hasOwn(KINDS, name);
}
