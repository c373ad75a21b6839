/*
 * Keys of the store in Redis. Queue names are never empty, so no job's key looks like one of these.
 * - `PREFIX::payloads`: sorted set of the digests that are stored, by the time (ms) of the last job that named them;
 * - `PREFIX::payload:DIGEST`: the text, a hash of `data` (compressed), `bytes` (before that) and `encoding`;
 * - `PREFIX::payload:DIGEST:jobs`: sorted set of the keys of the jobs that name it, by the time (ms) they said so.
 */

export function payloadIndexKey(prefix: string): string {
  return `${prefix}::payloads`;
}

export function payloadKey(prefix: string, digest: string): string {
  return `${prefix}::payload:${digest}`;
}

export function payloadJobsKey(prefix: string, digest: string): string {
  return `${payloadKey(prefix, digest)}:jobs`;
}
