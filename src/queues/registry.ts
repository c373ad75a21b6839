import type { z } from 'zod';
import { KindError, UsageError } from '../errors.js';
import { nearestName } from '../nearest-name.js';
import { contamination } from './contamination.js';
import { extract } from './extract.js';
import type { JobKind } from './kind.js';
import { refinementLoop } from './refinement-loop.js';
import { solutionCheck } from './solution-check.js';
import { summarize } from './summarize.js';

/** The contracts of the built-in kinds. The kinds of one fleet, with those of its users, are a `KindRegistry`. */
export const KINDS = {
  'solution-check': solutionCheck,
  summarize,
  extract,
  contamination,
  'refinement-loop': refinementLoop,
} as const;

export type BuiltInKindName = keyof typeof KINDS;
/** Names of the built-in kinds. */
export const KIND_NAMES = Object.keys(KINDS) as BuiltInKindName[];

/** Name of a kind: a built-in one, or one that a user defined. The compiler knows the types of the built-in ones. */
export type KindName = BuiltInKindName | (string & NonNullable<unknown>);
/** A kind, by its name or its definition. With its definition the compiler knows the types of any kind. */
export type KindRef = KindName | JobKind;

type ContractOf<K> = K extends JobKind ? K : K extends BuiltInKindName ? (typeof KINDS)[K] : JobKind;

/** A payload as processors get it. That of a kind that only its name is known of is any object. */
export type PayloadOf<K extends KindRef> = z.output<ContractOf<K>['payload']>;
/** A payload as it is submitted: fields with a default may be left out. */
export type PayloadInputOf<K extends KindRef> = z.input<ContractOf<K>['payload']>;
export type ResultOf<K extends KindRef> = z.output<ContractOf<K>['result']>;

export function kindNameOf(kind: KindRef): string {
  return typeof kind === 'string' ? kind : kind.name;
}

/** The kinds that a program knows: the built-in ones and those of its users. It does not change after its start. */
export class KindRegistry<Kind extends JobKind = JobKind> implements Iterable<Kind> {
  readonly #kinds: ReadonlyMap<string, Kind>;
  /** The built-in kinds first, then the others in the order in which they were passed. */
  readonly names: readonly string[];

  /** @throws KindError if two kinds have the same name. */
  constructor(builtIn: readonly Kind[], own: readonly Kind[] = []) {
    const kinds = new Map(builtIn.map((kind) => [kind.name, kind]));
    for (const kind of own) {
      const other = kinds.get(kind.name);
      if (other !== undefined) {
        const isBuiltIn = builtIn.includes(other);
        throw new KindError(
          `two kinds have the name "${kind.name}"${isBuiltIn ? ', which is that of a built-in kind' : ''}`,
        );
      }
      kinds.set(kind.name, kind);
    }
    this.#kinds = kinds;
    this.names = [...kinds.keys()];
  }

  has(name: string): boolean {
    return this.#kinds.has(name);
  }

  /** @throws UsageError `unknown-kind` with the kinds there are. */
  get(name: string): Kind {
    const kind = this.#kinds.get(name);
    if (kind !== undefined) return kind;
    const nearest = nearestName(name, this.names);
    const meant = nearest === undefined ? '' : ` (did you mean "${nearest}"?)`;
    throw new UsageError(
      'unknown-kind',
      `${JSON.stringify(name.slice(0, 200))} is not a kind of job here${meant}; there are: ${this.names.join(', ')}`,
    );
  }

  /** The kind that a job id names: of several, that with the longest name. */
  ofJobId(id: string): string | undefined {
    // BullMQ appends a colon and a suffix to name the parts of a job.
    if (id.includes(':')) return undefined;
    const named = this.names.filter((name) => id.startsWith(`${name}-`));
    return named.sort((a, b) => b.length - a.length)[0];
  }

  [Symbol.iterator](): Iterator<Kind> {
    return this.#kinds.values();
  }
}

export const BUILT_IN_CONTRACTS = new KindRegistry<JobKind>(Object.values(KINDS));
