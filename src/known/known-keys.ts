/** Redis keys of the fleet-wide set of known solutions. */
export interface KnownKeys {
  /** Hash: entry field → the solution as JSON. */
  readonly entries: string;
  /** Hash: entry field → its fingerprints, 32-bit little-endian integers. */
  readonly fingerprints: string;
  /** Stream of added and removed entries; workers update their index from it. */
  readonly changes: string;
  /** Set of the entry fields of one test case. */
  ofCase(testCaseId: string): string;
}

export function knownKeys(prefix: string): KnownKeys {
  const base = `${prefix}:known`;
  return {
    entries: `${base}:entries`,
    fingerprints: `${base}:fingerprints`,
    changes: `${base}:changes`,
    ofCase: (testCaseId) => `${base}:case:${testCaseId}`,
  };
}

/** Identity of an entry: hash and test case, because two tasks may have the same solution. */
export function entryField(reference: { readonly hash: string; readonly testCaseId: string }): string {
  return `${reference.hash}:${reference.testCaseId}`;
}

export function referenceOf(field: string): { hash: string; testCaseId: string } {
  const colon = field.indexOf(':');
  return { hash: field.slice(0, colon), testCaseId: field.slice(colon + 1) };
}
