/** What rows get whose group the training part lacks, and what rows without a group keep. */

/** Models that stop at a missing value; boosting on trees takes it as it is. */
export const STOPS_AT_GAPS =
  /\b(Ridge|Lasso|ElasticNet|LinearRegression|LogisticRegression|SGD|RandomForest|ExtraTrees|GradientBoosting|SVC|SVR|LinearSV|KNeighbors|GaussianNB|MLP|PCA|KMeans)/;

/** Statistics that are 0 for a group without rows, where others have no value. */
export const COUNTS = /^(count|size|nunique|sum|value_counts)$/;

const ENDS_AS_COUNT =
  /\.(?:(?:count|size|nunique|sum|value_counts)\([^()]*\)|(?:agg|aggregate)\(\s*["'](?:count|size|nunique|sum)["']\s*\))(?:\.(?:to_dict|rename|astype|reset_index|to_frame)\([^()]*\))*$/;

/** Whether a computation by groups gives a number of rows, or a sum: not a quotient of two of them. */
export function isCount(text: string): boolean {
  const plain = text.replaceAll(/(["'])[^"'\n]*\1/g, '""').trim();
  return ENDS_AS_COUNT.test(text.trim()) && !/[-+*/]/.test(plain);
}

/** `value_counts(dropna=False)`: rows without a key are a group of their own. */
export function hasMissingKeys(computation: string): boolean {
  return /\bdropna ?= ?False\b/.test(computation);
}

/** Fills of a whole table, which a value that is missing for want of a group goes through. */
const FILLS_TABLE = /(?<!\[\s?["'][^"'\n]{0,80}["']\s?\])\.fillna\(|Imputer\(|\bnan_to_num\(/;

/**
 * `.where(frame["key"].notna())`: a row without a key has no value from its group, and gets none. Nothing where the script shows
 * that no row lacks the key: it is filled, rows with gaps are dropped, or the model would have stopped.
 * @param rows text of the keys of all rows, as `frame["key"]`
 */
export function missingWithoutKey(source: string, rows: string): string {
  const key = /\[([^[\]]+)\]$/.exec(rows)?.[1] ?? /\.(\w+)$/.exec(rows)?.[1];
  if (key === undefined || !lacksKeys(source, key)) return '';
  return `.where(${rows}.notna())`;
}

/** The same for several keys. */
export function missingWithoutKeys(source: string, frame: string, keys: readonly string[]): string {
  if (!keys.some((key) => lacksKeys(source, key))) return '';
  const [key] = keys;
  return keys.length === 1
    ? `.where(${frame}[${key}].notna())`
    : `.where(${frame}[[${keys.join(', ')}]].notna().all(axis=1))`;
}

function lacksKeys(source: string, key: string): boolean {
  if (/\.dropna\((?:inplace ?= ?True|axis ?= ?0|how ?= ?["']any["'])?\)/.test(source)) return false;
  const isFilled = source
    .split('\n')
    .some((line) => line.includes(`[${key}]`) && /\]\s?\.(?:fillna\(|astype\(\s*(?:str|int)\b)/.test(line));
  if (isFilled) return false;
  const others = source.replaceAll(/\blambda \w+ ?: ?\w+\.fillna\(/g, '');
  return !STOPS_AT_GAPS.test(source) || FILLS_TABLE.test(others);
}
