import { FUNCTION_FAMILIES, type FunctionFamily } from './function-families.js';

interface Pattern {
  readonly test: (path: string) => boolean;
  readonly family: FunctionFamily;
}
const exact = new Map<string, FunctionFamily>();
const patterns: Pattern[] = [];

/** Whether a path has the parts between the stars of a pattern, in order and apart. */
function wildcard(pattern: string): (path: string) => boolean {
  const [start = '', ...others] = pattern.split('*');
  const end = others.pop() ?? '';
  return (path) => {
    if (!path.startsWith(start)) return false;
    let position = start.length;
    for (const part of others) {
      const found = path.indexOf(part, position);
      if (found === -1) return false;
      position = found + part.length;
    }
    return path.length - end.length >= position && path.endsWith(end);
  };
}

for (const family of FUNCTION_FAMILIES) {
  for (const path of family.paths) {
    if (!path.includes('*')) exact.set(path, family);
    else {
      patterns.push({ test: wildcard(path), family });
    }
  }
}

/** What is known about a library function. */
export function functionFamily(path: string): FunctionFamily | undefined {
  return exact.get(path) ?? patterns.find((pattern) => pattern.test(path))?.family;
}
