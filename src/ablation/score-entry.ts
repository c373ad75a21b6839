/** One printed number with the words around it, before it is known what the words mean. */
export interface ScoreEntry {
  /** Name of the variant as printed; empty where the line only names a metric. */
  readonly label: string;
  /** Metric as printed; empty where none is named. */
  readonly metric: string;
  /** The score or the change; NaN where the run gave none. */
  readonly value: number;
  /** The number, or the word printed instead of it. */
  readonly text: string;
  readonly kind: 'score' | 'change';
  /** Scores of single runs (folds, seeds) that are in place of one score. */
  readonly runs?: readonly { readonly value: number; readonly text: string }[];
  /** Whether the number belongs to one fold or seed. */
  readonly isRun: boolean;
  /** Whether the number is printed as a mean. */
  readonly isMean: boolean;
  /** The label names what is taken out, without a word for it (a column `removed`). */
  readonly labelIsComponent: boolean;
  /** Entries of one layout come from lines of one form. */
  readonly layout: string;
  /** Line of the raw output, from 0. */
  readonly line: number;
}

/** Words that are where a score was expected. */
const NO_SCORE =
  /^(?:[-+]?(?:nan|inf|infinity)|n\/?a|none|null|undefined|failed|fail|failure|error|errored|crashed|crash|exception|timeout|timed out|oom|out of memory|killed|skipped|aborted|did not (?:run|finish|converge)|diverged|échec|échoué|fehlgeschlagen|fehler|falló|ошибка|失败|失敗)(?![\p{L}\p{N}_])/iu;

export function missingScore(text: string): string | undefined {
  return NO_SCORE.exec(text.trim().replace(/^["'`*[(<]+/, ''))?.[0];
}

const REFERENCE_CELL = /^[([]?(?:ref\.?|reference|base|baseline|[-–—]{1,3}|\*|\.{1,3}|n\/?a)[)\]]?$/iu;

/** Whether a cell says that its row is what the others are compared with, or holds nothing: `ref`, `(base)`, `--`. */
export function isReferenceCell(cell: string): boolean {
  return REFERENCE_CELL.test(cell.trim());
}

const CLEAR_CHANGE =
  'delta|Δ|∆|δ|diff(?:erence)?|changes?|impacts?|inc|écart|différence|differenz|unterschied|änderung|diferencia|cambio|impacto|diferença|变化|差异|影响';
/** Words that are also verbs of what was done: `Drop cabin` names a variant, `drop without cabin` a change. */
const VERB_OR_CHANGE =
  'drops?|decreases?|increases?|degradation|gain|improvement|effect|contribution|importance|loss of performance|variation|差|下降';
const CHANGE_WORDS = `${CLEAR_CHANGE}|${VERB_OR_CHANGE}`;
const JOINTS =
  '(?:[\\s_-]+(?:of|from|vs\\.?|versus|for|when|without|in|to|by|due to|after|if|with|on|relative to|compared (?:to|with)|changing|removing|disabling|dropping|the|baseline|base|performance|score|accuracy|auc|f1|rmse|mae)(?![\\p{L}]))';
const CHANGE_START = new RegExp(
  `^(?:(?:the|average|mean|absolute|relative|performance|score|metric|accuracy|auc|f1|rmse|mae|r2|validation|val|test|cv)[\\s_-]+){0,3}(?:(?:${CLEAR_CHANGE})(?![\\p{Ll}])${JOINTS}*|(?:${VERB_OR_CHANGE})(?:${JOINTS}+|(?=\\s*[:=(]|\\s*$)))[\\s:=_-]*`,
  'iu',
);
const CHANGE_END = new RegExp(
  `(?<![\\p{L}_])(?:(?:${CHANGE_WORDS})(?:\\s*\\(?%\\)?)?|(?:vs\\.?|from|over|to) (?:the )?(?:baseline|base|full))\\s*$`,
  'iu',
);
const CHANGE_WHOLE = new RegExp(
  `(?<![\\p{L}])(?:${CHANGE_WORDS})(?![\\p{Ll}])|^(?:vs\\.?|versus|rel\\.?|relative)\\b|[±]?Δ`,
  'iu',
);

/** Whether a column title or the words in brackets speak of a change against the baseline. */
export function speaksOfChange(text: string): boolean {
  return CHANGE_WHOLE.test(text.slice(0, 120).replace(/_/g, ' '));
}

/** Splits the words for a change off a label; undefined where there are none. */
export function changeLabel(text: string): string | undefined {
  const start = CHANGE_START.exec(text);
  if (start !== null) return text.slice(start[0].length);
  const end = CHANGE_END.exec(text);
  if (end !== null) return text.slice(0, end.index);
  return undefined;
}

const DEVIATION =
  /(?<![\p{L}])(?:std|stdev|sd|sem|stderr|std\.? ?dev|standard deviation|deviation|±|\+\/-|\+-|ci|variance|var|écart-type|standardabweichung)(?![\p{L}])/iu;

export function speaksOfDeviation(text: string): boolean {
  return DEVIATION.test(text.slice(0, 120).replace(/_/g, ' '));
}

const NO_SCORE_COLUMN =
  /(?<![\p{L}])(?:time|seconds?|secs?|duration|runtime|elapsed|latency|memory|mem|params?|parameters|size|rows|samples|n|n ?features|num ?features|features used|epochs?|rank|idx|index|id|fold|folds|seed|p[ -]?value|t[ -]?stat|count|support|threshold|best ?iteration|iterations?|depth|step|gflops|flops|fps|date)(?![\p{L}])/iu;

/** Whether a column or key is about something other than quality: time, size, rank, p-value. */
export function isNoScoreColumn(title: string): boolean {
  return NO_SCORE_COLUMN.test(title.slice(0, 80).replace(/_/g, ' '));
}

export function speaksOfMean(text: string): boolean {
  return /(?<![\p{L}])(?:mean|avg|average|cv score|moyenne?|mittel(?:wert)?|durchschnitt|media|promedio|média|среднее|平均)(?![\p{Ll}])/iu.test(
    text.slice(0, 120).replace(/_/g, ' '),
  );
}
