import { FUNCTION_FAMILIES, type FunctionFamily } from './function-families.js';

interface Pattern {
  readonly test: (path: string) => boolean;
  readonly family: FunctionFamily;
}
const exact = new Map<string, FunctionFamily>();
const patterns: Pattern[] = [];
for (const family of FUNCTION_FAMILIES) {
  for (const path of family.paths) {
    if (!path.includes('*')) exact.set(path, family);
    else {
      const expression = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
      patterns.push({ test: (candidate) => expression.test(candidate), family });
    }
  }
}

/** What is known about a library function. */
export function functionFamily(path: string): FunctionFamily | undefined {
  return exact.get(path) ?? patterns.find((pattern) => pattern.test(path))?.family;
}
