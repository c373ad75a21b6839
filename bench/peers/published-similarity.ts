/**
 * The trigram similarity exactly as specified (SPEC-SIL-009): sets of substrings, intersected and united as sets. It only
 * serves as the peer of measurements and to test the fast form digit by digit.
 */
export function publishedSimilarity(first: string, second: string): number {
  const a = trigrams(first);
  const b = trigrams(second);
  if (a.size === 0 || b.size === 0) return 0;
  const shared = new Set([...a].filter((trigram) => b.has(trigram)));
  const either = new Set([...a, ...b]);
  return shared.size / either.size;
}

function trigrams(text: string): Set<string> {
  const plain = text.toLowerCase().replace(/\s+/g, ' ').trim();
  const found = new Set<string>();
  for (let start = 0; start + 3 <= plain.length; start += 1) found.add(plain.substring(start, start + 3));
  return found;
}
