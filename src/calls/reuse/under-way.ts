/** How long it is noted who asks for an answer, in milliseconds: longer than a batch takes. */
export const UNDER_WAY_TTL_MS = 2 * 86_400_000;

/** Where it is noted who asks for an answer (`answer-scripts.ts`). */
export function underWayKey(answerKey: string): string {
  return `${answerKey}:under-way`;
}
