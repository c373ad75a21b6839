/** An amount of money, to a hundredth of a cent. */
export function usd(amount: number): string {
  return `$${amount.toFixed(4)}`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
