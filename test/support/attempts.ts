/**
 * How often a test tries what must be bounded. `TEST_ATTEMPTS=10000 npx vitest run …` tries as often as an attacker
 * would, which takes minutes; the usual number is a multiple of the bounds. (Names that begin with FLEET reach no test.)
 */
export function attempts(usual: number): number {
  return Number(process.env.TEST_ATTEMPTS ?? usual);
}

/** How long so many attempts may take, in milliseconds. */
export function timeFor(count: number): number {
  return 30_000 + count * 200;
}
