import { PayloadError } from '../../errors.js';
import { type FollowUp, nameOfFollowUp, type Scalar } from '../../queues/follow-ups/contract.js';
import { fieldOf, shownValue } from '../../queues/follow-ups/known-values.js';
import { wellFormed } from '../../queues/names.js';

type Fields = Readonly<Record<string, unknown>>;

/** Why the condition of a follow-up does not hold; undefined if it does. */
export function unmetCondition({ when = {} }: FollowUp, result: Fields): string | undefined {
  for (const [name, wanted] of Object.entries(when)) {
    const values: readonly Scalar[] = Array.isArray(wanted) ? wanted : [wanted];
    const value = fieldOf(result, name);
    if (values.some((candidate) => candidate === value)) continue;
    const is = value === undefined ? 'absent' : shownValue(value);
    return shortened(`${name} is ${is}, not ${values.map(shownValue).join(' or ')}`, MAX_REASON);
  }
  return undefined;
}

/** Maximum length of the reason why a follow-up was skipped. */
const MAX_REASON = 500;

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
    const value = copiedValue(source, sources);
    if (value === undefined) {
      const message = `${nameOfFollowUp(followUp)}: ${name}: the job has no ${source}`;
      throw new PayloadError('invalid-payload', message, { field: name });
    }
    payload[name] = value;
  }
  return followUp.then === undefined ? payload : { ...payload, then: followUp.then };
}

/**
 * Why a follow-up cannot start: its payload is refused. If the refused field was copied, the message names where from, and
 * the value, which was not known at the submission.
 */
export function refusalOfPayload(
  followUp: FollowUp,
  refusal: PayloadError,
  sources: { readonly result: Fields; readonly payload: Fields },
): PayloadError {
  const name = /^\w+/.exec(refusal.field ?? '')?.[0] ?? '';
  const source = Object.hasOwn(followUp.from ?? {}, name) ? followUp.from?.[name] : undefined;
  const value = source === undefined ? undefined : copiedValue(source, sources);
  if (value === undefined) return refusal;
  const message = `${refusal.message}; ${source} of the job is ${shownValue(value)}`;
  return new PayloadError(refusal.code, message, { field: name, cause: refusal });
}

/** The value of a field of the result or the payload of a job, by its path: `result.solution.content`. */
function copiedValue(
  source: string,
  { result, payload }: { readonly result: Fields; readonly payload: Fields },
): unknown {
  const [side, ...path] = source.split('.');
  return path.reduce<unknown>(fieldOf, side === 'result' ? result : payload);
}
