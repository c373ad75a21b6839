const QUOTED =
  /(?:error|exception|failure|failed)\s+(?:(?:in|while|during|for|with|on|at)\s*)?(?:(?:running|evaluating|training|executing)\s*)?(?:the\s+)?(?:(?:scenario|variant|ablation|experiment|config(?:uration)?|run)\s*)?["'`[](.{1,120}?)["'`\]]/i;
const SEPARATOR = /[\s:–-]/;
const FAILED =
  /(?<=[\s:–-])(?:has |have |run )?(?:failed|crashed|errored out|raised (?:an? )?\w+|was skipped|timed out|diverged)\b/gi;
const MIN_LABEL = 2;
const MAX_LABEL = 120;

export interface FailedRun {
  readonly label: string;
  /** Whether quotes or brackets say where the name of the run begins and ends. */
  readonly isQuoted: boolean;
}

/** The words before `failed`, without the signs around them. */
function labelBefore(line: string): string | undefined {
  const start = /\w/.exec(line)?.index ?? line.length;
  let short: string | undefined;
  for (const { index } of line.matchAll(FAILED)) {
    let end = index;
    while (end > start + MIN_LABEL && SEPARATOR.test(line[end - 1] ?? '')) end -= 1;
    if (index <= start + MIN_LABEL) {
      // Before the first Latin letter: a name of two others.
      if (index > MIN_LABEL) short = line.slice(index - MIN_LABEL - 1, index - 1);
    } else if (end - start <= MAX_LABEL) return line.slice(start, end);
  }
  return short;
}

/** The run that a line says has failed: `Error in variant "no scaler"`, `no scaler: crashed`. */
export function failedRunIn(line: string): FailedRun | undefined {
  const quoted = QUOTED.exec(line);
  const label = labelBefore(line);
  if (quoted?.[1] !== undefined && (label === undefined || quoted.index === 0))
    return { label: quoted[1], isQuoted: true };
  return label === undefined ? undefined : { label, isQuoted: false };
}
