/**
 * Reads what is the same for everybody. All who ask while it is being read get that reading, however long it takes, and so
 * do those who ask in a time after. A reading that failed is not kept.
 *
 * @param keepMs How long a reading counts after its end.
 */
export function sharedReading<Source, Value>(
  keepMs: number,
  read: (source: Source) => Promise<Value>,
): (source: Source) => Promise<Value> {
  let current: { readonly reading: Promise<Value>; endedAt: number } | undefined;
  return (source) => {
    if (current !== undefined && Date.now() - current.endedAt < keepMs) return current.reading;
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
