import type { Value } from './value.js';
import { countWork } from './work.js';

/** The text that Python makes of a constant, where that is known: of 1 it depends on whether it is a float. */
export function textOf(value: Value): string | undefined {
  if (value.type !== 'constant' || value.value === null || typeof value.value === 'boolean') return undefined;
  // Python writes very large and very small numbers otherwise.
  return typeof value.value === 'number' && !/^-?\d{1,15}(\.\d+)?$/.test(String(value.value))
    ? undefined
    : String(value.value);
}

/** The texts of a list, where all of them are known. */
export function textsOf(value: Value): readonly string[] | undefined {
  if (value.type !== 'sequence' || value.cell.value.rest !== undefined) return undefined;
  countWork(value.cell.value.items.length);
  const texts = value.cell.value.items.map((item) => (item.type === 'constant' ? item.value : undefined));
  return texts.length > 0 && texts.every((text): text is string => typeof text === 'string')
    ? texts
    : undefined;
}
