import type { EstimatorState, Value } from '../values/value.js';
import { MAX_PARTS } from '../values/value.js';
import { countWork } from '../values/work.js';

/** What a callback does with the scores of the rows that a fit validates on. */
export type CallbackEffect =
  /** It decides when the training ends, or which state the model has after it. */
  | { readonly type: 'stops' }
  /** It writes the best state to a file; that counts where the file is loaded. */
  | { readonly type: 'saves'; readonly file: Value | undefined };

/** What a list of callbacks, or one of them, does. */
export function callbackEffects(value: Value, seen = new Set<object>()): readonly CallbackEffect[] {
  countWork(1);
  switch (value.type) {
    case 'sequence': {
      // A list may hold itself, or one list many times.
      if (seen.has(value.cell) || seen.size >= MAX_PARTS) return [];
      seen.add(value.cell);
      const { items, rest } = value.cell.value;
      const parts = rest === undefined ? items : [...items, rest];
      return parts.flatMap((part) => callbackEffects(part, seen));
    }
    case 'estimator':
      return effectOf(value.cell.value);
    case 'opaque':
      return effectOfText(value.source?.label ?? '');
    case 'instance':
      return STOPPERS.test(value.of.definition.name) ? [{ type: 'stops' }] : [];
    default:
      return [];
  }
}

const STOPPERS = /(early_stopping|EarlyStopping|ModelCheckpoint)/;

/** Keras calls the metrics of the training rows `loss` and `accuracy`, and those of the others `val_loss`. */
function watchesTraining(monitor: unknown): boolean {
  return typeof monitor === 'string' && !/val|test|dev|eval|hold/i.test(monitor);
}

function effectOf({ path, options }: EstimatorState): readonly CallbackEffect[] {
  if (!STOPPERS.test(path)) return [];
  const isCheckpoint = path.endsWith('ModelCheckpoint');
  const monitor = options.get('monitor') ?? options.get(isCheckpoint ? '1' : '0');
  if (monitor?.type === 'constant' && watchesTraining(monitor.value)) return [];
  // The one of Lightning is loaded by `ckpt_path="best"`.
  if (!isCheckpoint || /lightning/.test(path)) return [{ type: 'stops' }];
  const best = options.get('save_best_only');
  if (best === undefined || (best.type === 'constant' && best.value !== true)) return [];
  return [{ type: 'saves', file: options.get('filepath') ?? options.get('0') }];
}

/** A callback of a module that nobody described, by the text of the call that makes it. */
function effectOfText(text: string): readonly CallbackEffect[] {
  if (!STOPPERS.test(text)) return [];
  const monitor = /monitor\s*=\s*['"](\w+)/.exec(text) ?? /EarlyStopping\(\s*['"](\w+)/.exec(text);
  if (watchesTraining(monitor?.[1])) return [];
  if (!/ModelCheckpoint/.test(text)) return [{ type: 'stops' }];
  return /save_best_only\s*=\s*True/.test(text) ? [{ type: 'saves', file: undefined }] : [];
}
