import { z } from 'zod';

/** One run of a script. The script could have forged all of it. */
export const RunSchema = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  line: z.number().optional(),
  text: z.string().optional(),
  printed: z.string(),
});
export type Run = z.infer<typeof RunSchema>;

/** Longest error of a script that a message shows, in characters. */
const MAX_SHOWN = 300;

/** Failures that say something about the limits of a trial, and nothing about the script. */
const LIMITS =
  /^(?:TimeoutError: no end within|MemoryError|ProcessEnded: its process ended by SIG(?:KILL|XCPU|ALRM)|OSError: \[Errno (?:27|28)\]|BlockingIOError: \[Errno 11\]|RuntimeError: can't start new thread)/;

/** Whether a run failed because of a limit. */
export function hitLimit({ ok, error = '' }: Run): boolean {
  return !ok && LIMITS.test(error);
}

/** The last line of a run's traceback, with the line of the script. */
export function failureOf({ error = '', line = 0, text = '' }: Run): string {
  const said = shortened(error.trim().split('\n').at(-1) ?? '');
  return line === 0 ? said : `${said} in line ${line}: ${shortened(text.trim())}`;
}

/** Why a run is worse than that of the original, which succeeded; undefined if it is not. */
export function whatFailed(original: Run, other: Run): string | undefined {
  if (!other.ok) return `fails with ${failureOf(other)}`;
  if (printsScore(original) && !printsScore(other))
    return 'prints no score any more, which the original prints';
  return undefined;
}

/** Whether the last line that a script prints has a number. */
function printsScore({ printed }: Run): boolean {
  const last = printed.trimEnd().split('\n').at(-1) ?? '';
  return /\d/.test(last) && !/\b(nan|inf)\b/i.test(last);
}

function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
