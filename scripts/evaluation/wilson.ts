const Z = 1.959964;

/** The 95 % interval of a fraction (Wilson 1927), which also holds for fractions of 0 and 1. */
export function wilsonInterval(count: number, of: number): { readonly low: number; readonly high: number } {
  if (of === 0) return { low: 0, high: 1 };
  const fraction = count / of;
  const spread = Z * Math.sqrt((fraction * (1 - fraction)) / of + (Z * Z) / (4 * of * of));
  const center = fraction + (Z * Z) / (2 * of);
  const scale = 1 + (Z * Z) / of;
  return {
    low: Math.max(0, (center - spread) / scale),
    high: Math.min(1, (center + spread) / scale),
  };
}
