/** How far apart two parts of one step may be. */
interface Reach {
  readonly min: number;
  readonly max: number;
  /** A sign that ends the step. */
  readonly barrier?: string;
}

/** Whether a match of `second` starts within reach of the end of a match of `first`. */
function follows(text: string, first: RegExp, second: RegExp, reach: Reach): boolean {
  const starts = [...text.matchAll(second)].map((match) => match.index);
  let next = 0;
  for (const match of text.matchAll(first)) {
    const end = match.index + match[0].length;
    while (next < starts.length && (starts[next] ?? 0) < end + reach.min) next += 1;
    const start = starts[next];
    if (start === undefined) return false;
    if (start - end > reach.max) continue;
    if (reach.barrier === undefined || !text.slice(end, start).includes(reach.barrier)) return true;
  }
  return false;
}

const GROUPED = /\.groupby\(/g;
const MEAN = /\bmean\b/g;

/** A mean by group, as target encodings are written by hand. */
export function isMeanByGroup(statement: string): boolean {
  return follows(statement, GROUPED, MEAN, { min: 1, max: 200 });
}

const WEIGHTED = /(?:\b0?\.\d+|\bw\w*(?:\[[^\]]{1,20}\])?)\s*\*/g;
const PLUS_WEIGHTED = /\+(?=\s*(?!\s)(?:\(?1\s*-\s*(?!\s))?[^=]{0,40}?\*)/g;
const PREDICTION = /\(\s*\w*?(?:pred|prob|oof)\w*/g;
const PLUS_DIVIDED = /\+(?=[^=]{0,120}?\)\s*\/\s*\d)/g;

/** `0.6 * a + 0.4 * b` and `(pred_a + pred_b) / 2`: predictions put together by hand. */
export function isBlend(statement: string): boolean {
  return (
    follows(statement, WEIGHTED, PLUS_WEIGHTED, { min: 1, max: 200, barrier: '=' }) ||
    follows(statement, PREDICTION, PLUS_DIVIDED, { min: 0, max: 80, barrier: '=' })
  );
}
