import { wellFormed } from '../../queues/names.js';

/** Percent-encodes all that is not a letter, digit, `-`, `.`, `_` or `~`, so the text cannot end an attribute or an address. */
export function encoded(text: string): string {
  return encodeURIComponent(wellFormed(text)).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The text of `encoded`; undefined for any other. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (thrown) {
    if (!(thrown instanceof URIError)) throw thrown;
    return undefined;
  }
}

/** An address on this gateway; parameters without a value are left out. */
function address(path: string, parameters: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encoded(String(value))}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

/** Parameters of the page of a run. */
export interface RunAddress {
  readonly name: string;
  readonly state?: string | undefined;
  readonly code?: string | undefined;
  readonly job?: string | undefined;
  readonly key?: string | undefined;
  readonly page?: number | undefined;
  readonly others?: number | undefined;
}

/** The page of a run. */
export function runAddress({ name, state, code, job, key, page, others }: RunAddress): string {
  const isLater = (number: number | undefined) => (number === 1 ? undefined : number);
  return address('/runs', { name, state, code, job, key, page: isLater(page), others: isLater(others) });
}

/** The list of runs. */
export function runsAddress(page: number): string {
  return address('/runs', { page: page === 1 ? undefined : page });
}

/** A queue on the board. */
export function boardQueueAddress(queue: string): string {
  return `/board/queue/${encoded(queue)}`;
}

/** A job on the board. */
export function boardAddress(queue: string, id: string): string {
  return `${boardQueueAddress(queue)}/${encoded(id)}`;
}

/** A job in the API, which tokens bound to a tenant may read. */
export function jobAddress(id: string): string {
  return `/v1/jobs/${encoded(id)}`;
}
