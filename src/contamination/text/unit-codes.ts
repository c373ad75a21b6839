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

/** The lowest bits of a code: the number of a common unit, 0 for a space. */
export const NUMBER_BITS = 6;
/** Set in the code of a unit that is not common. */
export const RARE = 2 ** (3 * NUMBER_BITS);
/** Set beside `RARE` as long as a unit has not been met in the texts under work. */
export const UNMET = 2 * RARE;

/** The number that rare units share, so that none is taken for a space. */
const NO_NUMBER = 2 ** NUMBER_BITS - 1;
const UNMET_CODE = UNMET | RARE | NO_NUMBER;
const ALWAYS_COMMON = ' abcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Codes for the UTF-16 units of two texts that are compared without regard to letter case and to the kind of white
 * space. The common units get numbers below 63, so that three of them side by side make a number of 18 bits. Common
 * are the space, the letters and the digits of ASCII, and what is met first after these: in a text of any length, this
 * is most of what it is made of.
 */
export class UnitCodes {
  /** The code of every unit; a capital has that of its small letter. */
  readonly codes = new Int32Array(65_536).fill(UNMET_CODE);
  /** Every unit that was met, in lower case. */
  readonly folded = new Uint16Array(65_536);
  /** The common unit, in lower case, of each number. */
  readonly commonUnits = new Uint16Array(NO_NUMBER);
  /** Whether the text that is read is in lower case already, so that no unit needs its context any more. */
  inLowerCase = false;
  readonly #met = new Uint16Array(65_536);
  #metCount = 0;
  #commonCount = 0;

  constructor() {
    for (const character of ALWAYS_COMMON) this.meet(character.charCodeAt(0));
    for (let unit = 0; unit < 0x80; unit++) {
      if (ALWAYS_COMMON.includes(String.fromCharCode(foldedUnit(unit)))) this.meet(unit);
    }
    this.#metCount = 0;
  }

  /** Forgets all units but those that are always common. */
  startPair(): void {
    for (let i = 0; i < this.#metCount; i++) this.codes[this.#met[i] as number] = UNMET_CODE;
    this.#metCount = 0;
    this.#commonCount = ALWAYS_COMMON.length;
    this.inLowerCase = false;
  }

  /** Gives an unmet unit its code; false if its lower case takes more than the unit itself to tell. */
  meet(unit: number): boolean {
    let folded = foldedUnit(unit);
    if (folded === NEEDS_CONTEXT) {
      if (!this.inLowerCase) return false;
      folded = unit;
    }
    if (this.codes[folded] === UNMET_CODE) this.#give(folded, folded, this.#newCode(folded));
    if (folded !== unit) this.#give(unit, folded, this.codes[folded] as number);
    return true;
  }

  #newCode(folded: number): number {
    if (this.#commonCount === NO_NUMBER) return RARE | NO_NUMBER;
    this.commonUnits[this.#commonCount] = folded;
    return this.#commonCount++;
  }

  #give(unit: number, folded: number, code: number): void {
    this.codes[unit] = code;
    this.folded[unit] = folded;
    this.#met[this.#metCount++] = unit;
  }
}
