/**
 * A text as a reader sees it: without characters that show nothing, look-alikes of Latin letters and of
 * ASCII signs as those, so that a copy strewn with zero-width spaces or Cyrillic letters is a copy.
 */
export interface VisibleText {
  readonly text: string;
  /** Position in the original text of a position in `text`. */
  readonly toOriginal: (offset: number) => number;
}

/** Zero-width and other invisible characters, directions, soft hyphens, variation selectors, tags. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;
const LOOK_ALIKE = new Map<number, number>();
const pairs = (from: string, to: string): void => {
  for (let i = 0; i < from.length; i++) LOOK_ALIKE.set(from.charCodeAt(i), to.charCodeAt(i));
};
// Cyrillic, then Greek, then signs.
pairs('аеорсухіјѕһԁԛԝкмтвн', 'aeopcyxijshdqwkmtbh');
pairs('АВЕЗКМНОРСТУХЅІЈԚԜ', 'ABE3KMHOPCTYXSIJQW');
pairs('αονρτυχικΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'aovptuxikABEZHIKMNOPTYX');
pairs('‘’‚‛“”„‟′″‐‑‒–—−∗⁄∕։∶；，（）', '\'\'\'\'""""\'"------*//::;,()');
pairs('\u00a0\u2002\u2003\u2007\u2009\u202f\u3000', '       ');
for (let unit = 0xff01; unit <= 0xff5e; unit++) LOOK_ALIKE.set(unit, unit - 0xfee0);
/** Letters and digits of the mathematical alphabets, which NFKC turns into plain ones. */
const MATHEMATICAL = /\ud835[\udc00-\udfff]/;
const ASCII_ONLY = /^[\0-\x7f]*$/;

const SAME = (offset: number): number => offset;

export function visibleText(original: string): VisibleText {
  if (ASCII_ONLY.test(original)) return { text: original, toOriginal: SAME };
  if (!INVISIBLE.test(original) && !MATHEMATICAL.test(original)) {
    return { text: replaceLookAlikes(original), toOriginal: SAME };
  }
  const units: string[] = [];
  const offsets: number[] = [];
  for (let i = 0; i < original.length; ) {
    const point = original.codePointAt(i) as number;
    const width = point > 0xffff ? 2 : 1;
    const char = original.slice(i, i + width);
    if (!INVISIBLE.test(char)) {
      const shown = MATHEMATICAL.test(char) ? char.normalize('NFKC') : char;
      for (const unit of shown.split('')) {
        units.push(unit);
        offsets.push(i);
      }
    }
    i += width;
  }
  offsets.push(original.length);
  return {
    text: replaceLookAlikes(units.join('')),
    toOriginal: (offset) => offsets[offset] ?? original.length,
  };
}

function replaceLookAlikes(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (char) => {
    const plain = LOOK_ALIKE.get(char.charCodeAt(0));
    return plain === undefined ? char : String.fromCharCode(plain);
  });
}
