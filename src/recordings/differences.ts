import { createTwoFilesPatch } from 'diff';
import type { RecordedEnd, RecordedRequest } from './recording.js';

/** The first field in which two values differ, as JSON stores them; undefined if their JSON is the same. */
export function firstDifference(expected: unknown, actual: unknown, path = ''): string | undefined {
  const [before, after] = [expected, actual].map((value) => JSON.stringify(value));
  if (before === after) return undefined;
  if (isContainer(expected) && isContainer(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const at = path === '' ? name : `${path}.${name}`;
      const inside = firstDifference(expected[name], actual[name], at);
      if (inside !== undefined) return inside;
    }
    return `${path}: the order of its fields`;
  }
  return `${path}: ${shortened(before)} was recorded, now ${shortened(after)}`;
}

/** A unified diff of both ends of a job. */
export function diffOfEnds(expected: RecordedEnd, actual: RecordedEnd): string {
  const [before, after] = [expected, actual].map((end) => `${JSON.stringify(end, null, 2)}\n`);
  return createTwoFilesPatch('recorded', 'replayed', before ?? '', after ?? '', '', '', { context: 2 });
}

/** Which requests are not the recorded ones: a prompt or the processor has changed. */
export function changedRequests(
  expected: readonly RecordedRequest[],
  actual: readonly RecordedRequest[],
): string[] {
  const nameOf = ({ step, turn }: RecordedRequest) => `${step} ${turn}`;
  const count = Math.max(expected.length, actual.length);
  return Array.from({ length: count }, (_, at): string | undefined => {
    const [before, after] = [expected[at], actual[at]];
    if (JSON.stringify(before) === JSON.stringify(after)) return undefined;
    return nameOf((after ?? before) as RecordedRequest);
  }).filter((name) => name !== undefined);
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

const MAX_SHOWN = 200;

function shortened(json = 'nothing'): string {
  return json.length <= MAX_SHOWN ? json : `${json.slice(0, MAX_SHOWN)}…`;
}
