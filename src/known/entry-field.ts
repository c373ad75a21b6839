/** Identity of an entry: hash and test case, because two tasks may have the same solution. */
export function entryField(reference: { readonly hash: string; readonly testCaseId: string }): string {
  return `${reference.hash}:${reference.testCaseId}`;
}

export function referenceOf(field: string): { hash: string; testCaseId: string } {
  const colon = field.indexOf(':');
  return { hash: field.slice(0, colon), testCaseId: field.slice(colon + 1) };
}
