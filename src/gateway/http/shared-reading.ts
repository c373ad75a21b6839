/**
 * Shares one reading among all callers: those who call while it is under way, and those who call within a time after it. A
 * failed reading is not reused.
 *
 * @param maxAgeMs How long a reading is reused after its end.
 */
export function sharedReading<Source, Value>(
  maxAgeMs: number,
  read: (source: Source) => Promise<Value>,
): (source: Source) => Promise<Value> {
  let current: { readonly reading: Promise<Value>; endedAt: number } | undefined;
  return (source) => {
    if (current !== undefined && Date.now() - current.endedAt < maxAgeMs) return current.reading;
    const next = { reading: read(source), endedAt: Number.POSITIVE_INFINITY };
    current = next;
    next.reading.then(
      () => {
        next.endedAt = Date.now();
      },
      () => {
        if (current === next) current = undefined;
      },
    );
    return next.reading;
  };
}
