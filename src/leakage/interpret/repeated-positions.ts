import type { Call } from '../syntax/ast.js';
import type { Positions, Step, Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import { type Arguments, argument } from './arguments.js';
import { afterSteps } from './bounds.js';
import type { Interpreter } from './interpreter.js';
import { textStep } from './steps.js';

/** Positions that are drawn at random from others; with replacement, some of them are drawn several times. */
export function drawnPositions(
  interp: Interpreter,
  population: Value | undefined,
  args: Arguments,
  call: Call,
): Value {
  // Rows that one call draws: the same call somewhere else draws others.
  const partition = interp.partition(`drawn:${interp.siteKey(call)}`, 'selection', call);
  const from: Positions = population?.type === 'positions' ? population : { type: 'positions', steps: [] };
  const drawn = afterSteps(from, [{ partition, side: 'drawn' }]);
  const replaces = argument(args, 2, 'replace');
  const isRepeated = replaces?.type === 'constant' && replaces.value === true;
  return isRepeated && drawn.type === 'positions' ? { ...drawn, repeatedBy: call } : drawn;
}

/** `index.repeat(3)`, `np.repeat(positions, 3)`, `np.tile(positions, 3)`. */
export function repeatedPositions(positions: Positions, args: Arguments, call: Call): Positions {
  const times = argument(args, positions === args.positional[0] ? 1 : 0, 'repeats', 'reps');
  const isOnce = times?.type === 'constant' && times.value === 1;
  return isOnce || positions.values !== undefined ? positions : { ...positions, repeatedBy: call };
}

/** `np.concatenate([positions, drawn])`: nothing if no position is in it several times. */
export function positionsTogether(
  interp: Interpreter,
  values: readonly Value[],
  call: Call,
): Positions | undefined {
  const parts = values.flatMap((value) =>
    value.type === 'positions' && value.of === undefined && value.values === undefined ? [value] : [],
  );
  const [first, ...others] = parts;
  if (first === undefined || others.length === 0 || parts.length !== values.length) return undefined;
  countWork(parts.length * parts.length);
  const isRepeated = parts.some(
    (part, at) =>
      part.repeatedBy !== undefined ||
      parts.some((other, index) => index < at && overlap(part.steps, other.steps)),
  );
  if (!isRepeated) return undefined;
  const shared = others.reduce<readonly Step[]>((steps, part) => commonStart(steps, part.steps), first.steps);
  const isWhole = parts.some(({ steps }) => steps.length === shared.length);
  return {
    type: 'positions',
    steps: isWhole ? shared : [...shared, textStep(interp, call)],
    repeatedBy: call,
  };
}

function commonStart(a: readonly Step[], b: readonly Step[]): readonly Step[] {
  const end = a.findIndex((step, at) => !isSame(step, b[at]));
  return end < 0 ? a : a.slice(0, end);
}

/** Whether one of two parts is made of the other by further steps. */
function overlap(a: readonly Step[], b: readonly Step[]): boolean {
  return commonStart(a, b).length === Math.min(a.length, b.length);
}

function isSame({ partition, side }: Step, other: Step | undefined): boolean {
  return partition === other?.partition && side === other.side;
}
