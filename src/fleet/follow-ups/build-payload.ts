import { PayloadError } from '../../errors.js';
import { type FollowUp, nameOfFollowUp, type Scalar } from '../../queues/follow-ups/contract.js';
import { wellFormed } from '../../queues/names.js';

type Fields = Readonly<Record<string, unknown>>;

/** Why the condition of a follow-up does not hold; undefined if it does. */
export function unmetCondition({ when = {} }: FollowUp, result: Fields): string | undefined {
  for (const [name, wanted] of Object.entries(when)) {
    const values: readonly Scalar[] = Array.isArray(wanted) ? wanted : [wanted];
    const value = fieldOf(result, name);
    if (values.some((candidate) => candidate === value)) continue;
    const is = value === undefined ? 'absent' : quoted(value);
    return shortened(`${name} is ${is}, not ${values.map(quoted).join(' or ')}`, MAX_REASON);
  }
  return undefined;
}

/** Maximum length of the reason why a follow-up was skipped, and of one value in it: values may be whole scripts. */
const MAX_REASON = 500;
const MAX_VALUE = 100;

function quoted(value: unknown): string {
  return shortened(JSON.stringify(value), MAX_VALUE);
}

function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${wellFormed(text.slice(0, max - 1))}…`;
}

/**
 * The payload of a follow-up.
 * @throws PayloadError `invalid-payload` if a field that it copies is absent.
 */
export function payloadOfFollowUp(
  followUp: FollowUp,
  sources: { readonly result: Fields; readonly payload: Fields },
): Record<string, unknown> {
  const payload: Record<string, unknown> = { ...followUp.payload };
  for (const [name, source] of Object.entries(followUp.from ?? {})) {
    const [side, ...path] = source.split('.');
    const value = path.reduce<unknown>(fieldOf, side === 'result' ? sources.result : sources.payload);
    if (value === undefined) {
      const message = `${nameOfFollowUp(followUp)}: ${name}: the job has no ${source}`;
      throw new PayloadError('invalid-payload', message, { field: name });
    }
    payload[name] = value;
  }
  return followUp.then === undefined ? payload : { ...payload, then: followUp.then };
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Fields)[name];
}
