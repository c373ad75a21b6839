/** Backticks around code in Markdown: more than any run of them inside it. @param least for a block 3, in a line 1 */
export function fenceFor(code: string, least: number): string {
  let longest = 0;
  for (const [run] of code.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return '`'.repeat(Math.max(least, longest + 1));
}
