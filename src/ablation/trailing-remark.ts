/** Reads parentheses from the right; those of a remark are side by side and none inside another. */
class Pairs {
  private isInside = false;
  private isBroken = false;

  /** Takes the sign to the left of those before. */
  take(sign: string): void {
    if (sign !== '(' && sign !== ')') return;
    if ((sign === ')') === this.isInside) this.isBroken = true;
    this.isInside = sign === ')';
  }

  get complete(): boolean {
    return !this.isInside && !this.isBroken;
  }
}

/** A name without the remark in brackets at its end, as in `scaler (robust, see (2))`; the bracket may stay open. */
export function withoutTrailingRemark(name: string): string {
  const asTheyAre = new Pairs();
  const withoutLast = new Pairs();
  let cut: number | undefined;
  for (let position = name.length - 1; position > 0; position -= 1) {
    const sign = name[position] ?? '';
    const opens = '([{'.includes(sign) && /\s/.test(name[position - 1] ?? '');
    if (opens && (asTheyAre.complete || withoutLast.complete)) cut = position;
    asTheyAre.take(sign);
    if (position < name.length - 1 || sign !== ')') withoutLast.take(sign);
  }
  return cut === undefined ? name : name.slice(0, cut).trimEnd();
}
