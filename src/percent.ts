/** A part of a whole, from 0 to 1, in whole percent. */
export function percent(fraction: number): string {
  return `${Math.round(fraction * 100)} %`;
}
