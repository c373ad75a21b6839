import { isWhiteSpace } from './folded-text.js';

/** What `foldedUnit` gives for a unit whose lower case depends on its neighbors or is longer than one unit. */
export const NEEDS_CONTEXT = -1;
const UNKNOWN = -2;
const SPACE = 0x20;

/** Filled when a unit is first asked for: all 65,536 at once would cost the start of the program several milliseconds. */
const foldings = new Int32Array(65_536).fill(UNKNOWN);

/** A UTF-16 code unit as `toLowerCase` writes it; a space for each kind of white space. */
export function foldedUnit(unit: number): number {
  const known = foldings[unit] as number;
  if (known !== UNKNOWN) return known;
  const folded = fold(unit);
  foldings[unit] = folded;
  return folded;
}

function fold(unit: number): number {
  if (isWhiteSpace(unit)) return SPACE;
  const character = String.fromCharCode(unit);
  const lower = character.toLowerCase();
  // A capital sigma has another small form at the end of a word, and "İ" becomes two units.
  if (character === 'Σ' || lower.length !== 1 || leadsCapitals(unit)) return NEEDS_CONTEXT;
  return lower.charCodeAt(0);
}

/** Whether surrogate pairs that start with this unit hold capital letters, as those of Deseret and Adlam do. */
function leadsCapitals(unit: number): boolean {
  if (unit < 0xd800 || unit > 0xdbff) return false;
  let pairs = '';
  for (let low = 0xdc00; low <= 0xdfff; low++) pairs += String.fromCharCode(unit, low);
  return pairs.toLowerCase() !== pairs;
}
