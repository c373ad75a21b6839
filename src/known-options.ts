import { PayloadError } from './errors.js';
import { suggestionFor } from './nearest-name.js';

/** The names of the options of a type, without those that are never there. If the type gets another option, so must the list. */
export type OptionNames<T> = {
  readonly [K in keyof T as [Exclude<T[K], undefined>] extends [never] ? never : K]-?: true;
};

/** Where a field belongs that callers pass as an option. */
const BELONGS: Readonly<Record<string, string>> = {
  then: 'follow-ups belong in the payload of the job: { ...payload, then: [...] }',
  payload: 'the payload is an argument of its own',
};

/**
 * Rejects options that do not exist: a misspelled one would be ignored. Callers without types may pass anything.
 * @param at The field that contains the options.
 * @throws PayloadError `invalid-payload` with the name of the option, or where there are no options but something else.
 */
export function rejectUnknownOptions<T extends object>(options: T, names: OptionNames<T>, at?: string): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    const field = at ?? 'options';
    throw new PayloadError('invalid-payload', `${field}: must be an object with names and values`, { field });
  }
  const unknown = Object.entries(options).find(
    ([name, value]) => value !== undefined && !Object.hasOwn(names, name),
  )?.[0];
  if (unknown === undefined) return;
  const field = at === undefined ? unknown : `${at}.${unknown}`;
  const hint =
    (Object.hasOwn(BELONGS, unknown) ? BELONGS[unknown] : undefined) ??
    suggestionFor(unknown, Object.keys(names));
  throw new PayloadError('invalid-payload', `${field}: is not an option here; ${hint}`, { field });
}
