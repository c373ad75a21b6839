/** A number as it is in a text. */
export interface NumberToken {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly value: number;
  /** Digits after the decimal sign; those of the mantissa for scientific notation. */
  readonly decimals: number;
  readonly percent: boolean;
  readonly signed: boolean;
}

const NUMBER =
  /[-+−–]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d])|\d+(?:[.,]\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?(?: ?%)?/g;
const LETTER = /[\p{L}\p{N}_]/u;

/** Whether the sign before a number is one, and not a hyphen between words or a range. */
function signCounts(text: string, start: number): boolean {
  return start === 0 || !LETTER.test(text[start - 1] ?? '');
}

/** Dates, clock times, versions, fractions and file names hold digits that are not scores. */
function isPartOfSomethingElse(text: string, start: number, end: number): boolean {
  const before = text[start - 1] ?? '';
  const after = text[end] ?? '';
  if (LETTER.test(before) || before === '.' || before === '@') return true;
  if (LETTER.test(after) && !/^[kKMx]?\s/.test(text.slice(end, end + 2))) return true;
  if (after === '.' && /\d/.test(text[end + 1] ?? '')) return true;
  if (/[:/-]/.test(after) && /\d/.test(text[end + 1] ?? '')) return true;
  return /[:/]/.test(before) && /\d/.test(text[start - 2] ?? '');
}

/** Value of a printed number; a comma is read as decimal sign or thousands separator by its position. */
export function parseNumber(printed: string, commaIsDecimal = false): number {
  let text = printed.replace(/\s?%$/, '').replace(/[−–]/g, '-').trim();
  if (text.includes(',')) {
    const thousands = /^[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(text);
    const leadingZero = /^[-+]?0\d*,/.test(text);
    const several = text.indexOf(',') !== text.lastIndexOf(',');
    if (thousands && !leadingZero && (several || text.includes('.') || !commaIsDecimal)) {
      text = text.replaceAll(',', '');
    } else {
      text = text.replace(',', '.');
    }
  }
  return Number(text);
}

/** Digits after the point of a printed number; 4 for `1.2e-3`, below 0 for `1e5`. */
export function decimalsOf(printed: string): number {
  const [, mantissa = '', exponent = '0'] = /^(.*?)(?:[eE]([-+]?\d+))?\s?%?$/.exec(printed.trim()) ?? [];
  const fraction = /(?:\.|,(?!\d{3}(?:[,.]|$))|(?<=^[-+−–]?0),)(\d+)/.exec(mantissa);
  return (fraction?.[1]?.length ?? 0) - Number(exponent);
}

/** The numbers of a text, in order; digits inside names, dates, times and versions are left out. */
export function numbersIn(text: string, commaIsDecimal = false): NumberToken[] {
  const tokens: NumberToken[] = [];
  for (const match of text.matchAll(NUMBER)) {
    let printed = match[0];
    let start = match.index;
    const end = start + printed.length;
    const hasSign = /^[-+−–]/.test(printed);
    if (hasSign && !signCounts(text, start)) {
      printed = printed.slice(1);
      start += 1;
      // `lag-7` or `model-2`: the digits belong to the name.
      if (/\p{L}/u.test(text[start - 2] ?? '')) continue;
    }
    if (isPartOfSomethingElse(text, start, end)) continue;
    const value = parseNumber(printed, commaIsDecimal);
    if (!Number.isFinite(value)) continue;
    tokens.push({
      text: printed,
      start,
      end,
      value,
      decimals: decimalsOf(printed),
      percent: printed.endsWith('%'),
      signed: /^[-+−–]/.test(printed),
    });
  }
  return tokens;
}

/** A value with the given digits after the point, without `-0` and with the sign on request. */
export function formatNumber(value: number, decimals: number, withSign = false): string {
  const fixed = value.toFixed(Math.min(Math.max(decimals, 0), 20));
  const text = Number(fixed) === 0 ? fixed.replace('-', '') : fixed;
  return withSign && Number(text) > 0 ? `+${text}` : text;
}
