/** A duration, from milliseconds. */
export function duration(ms: number | undefined): string {
  if (ms === undefined) return '–';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.round(seconds / 3_600)} h`;
}

/** How long ago, or since when, from seconds. */
export function age(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3_600)} h`;
}

export const money = (usd: number) => `$${usd.toFixed(usd !== 0 && usd < 0.1 ? 4 : 2)}`;

/** A count with its noun: `1 call`, `2 calls`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** A time as people read it, in UTC. */
export function utc(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** A text cut to a length, in characters. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
