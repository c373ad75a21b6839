/**
 * Lines that libraries, progress bars and training loops print. A score in them belongs to one step of a
 * training and never to a variant.
 */
const NOISE: readonly RegExp[] = [
  // Boosting libraries
  /^\[?(?:LightGBM|XGBoost|CatBoost)\]? ?\[(?:Info|Warning|Fatal|Debug)\]/i,
  /^\[?lightgbm\]/i,
  /^You can set `force_(?:row|col)_wise/,
  /^And if memory is not enough, you can set/,
  /^(?:Training until validation scores|Early stopping, best|Did not meet early stopping|Stopped by overfitting|Stopping\. Best iteration|Will train until)/,
  /^\[\d+\]\s*\S*(?:train|val|test|eval|dtrain|dtest|metric|rmse|logloss|auc|l1|l2|error)/i,
  /^\d+:\s+(?:learn|test|total):/i,
  /^(?:bestTest|bestIteration|Shrink model|Learning rate set to)\b/,
  // Neural training
  /^\[?\(?\s*epochs?\b\s*(?:[:#[(]\s*)?\d/i,
  /\bepoch\s*(?:[:#]\s*)?\[?\d+\s*\/\s*\d/i,
  /^\s*\d+\/\d+\s+(?:\[[=>.]+|[━─╸]|- )/,
  /^[\s\d/]*[━─╸]{3,}/,
  /^\{'(?:loss|eval_loss|train_loss|train_runtime|eval_runtime)':/,
  /^(?:iter(?:ation)?|step|batch|round|trial|estimator)s?\s*(?:[:#=]\s*)?\d+\b.*\d\.\d/i,
  /^(?:GPU|TPU|CUDA) available|^Using device|^device:/i,
  /^Some weights of /,
  /^(?:lr|learning rate) (?:reduced|adjusted|scheduler)/i,
  /ReduceLROnPlateau|EarlyStopping|ModelCheckpoint|restoring model weights/i,
  // Searches and pools
  /^\[I \d{4}-\d\d-\d\d|^\[[WEDC] \d{4}-\d\d-\d\d/,
  /^\[CV(?: \d+\/\d+)?\]|^\[CV\] |^Fitting \d+ folds for each/,
  /^\[Parallel\(|^building tree \d+/,
  /\bTrial \d+ (?:finished|pruned|failed)/,
  // Progress bars
  /\d%\|[^|]{0,200}\|\s*[\d.?]+[kMG]?\/[\d.?]|\d%\s*[▏▎▍▌▋▊▉█#]{2,}|\bit\/s\]|\bs\/it\]/,
  /^\s*[█▉▊▋▌▍▎▏▓▒░#=>.-]{6,}\s*\d+%/,
  // Warnings and installers
  /^\S+\.pyx?:\d+: \w*(?:Warning|Deprecat)/,
  /^\w+Warning: /,
  /^\s*warnings?\.warn\(/,
  /^\s*(?:Collecting|Downloading|Requirement already satisfied|Installing collected|Successfully installed|Using cached) /,
  /^(?:WARNING|W\d{4} ).*(?:tensorflow|absl|All log messages|cuda|TF-TRT|oneDNN)/i,
  /oneDNN custom operations|cuda_executor|computation_placer|Unable to register cu|TF_ENABLE|This TensorFlow binary/,
  /^<frozen |^\s*\^+\s*$/,
];

const WARNING_SOURCE_LINE = /^\s{2,}\S.*[(=]/;

/** A line about time, memory or sizes; its numbers are not scores. */
const HOUSEKEEPING =
  /^(?:\W*)(?:total |training |elapsed |wall |execution |run ?|inference |fit )*(?:time|runtime|duration|elapsed|took|memory|ram|size|shape|samples?|rows?|columns?|records?)\b|\bin \d+(?:[.,]\d+)?\s*(?:s|sec|secs|seconds|min|minutes)\b|^\W*(?:number|count|total number) of\b|\b(?:train|test|val|valid|validation|training|data|dataset|x|y)(?:_\w+)? ?(?:shape|size|set size|samples|rows)\b|^\W*(?:seed|random[_ ]state|n_splits|n_estimators|batch[_ ]size|learning[_ ]rate|lr|version|python|sklearn|numpy|pandas|device|threshold|best threshold|best params?|parameters|hyperparameters|features?|num_features|n_features|classes|target)\s*[:=]|^\W*(?:alpha|lambda|gamma|max_depth|num_leaves)\s*[:=]/i;

/** Words that make a line one about time or files where a number follows. */
const BEFORE_NUMBER =
  /\b(?:time taken|elapsed|took|runtime|wall time|execution time|duration|loaded|loading|saved|saving|reading|wrote|written|read)\b/i;

/** Whether `second` matches after the first match of `first`; `first.*second` would search again after each. */
function matchesInOrder(text: string, first: RegExp, second: RegExp): boolean {
  const match = first.exec(text);
  return match !== null && second.test(text.slice(match.index + match[0].length));
}

const CONCLUSION =
  /\b(?:most|least)[ -](?:impactful|important|significant|critical|influential|contribut\w*|harmful|valuable|sensitive|crucial|relevant|useful)\b|\bcontribut\w*\s+(?:the\s+)?(?:most|least)\b|\b(?:largest|biggest|smallest|greatest|highest|lowest)\s+(?:\w+\s+)?(?:drop|impact|decrease|increase|effect|change|contribution|degradation|loss|delta)\b|^\W*(?:conclusions?|key findings?|findings?|takeaways?|insights?|recommendations?|winner|summary of|verdict|interpretation|analysis|note)\b|\bbest (?:\w+ )?(?:variant|ablation|config\w*|model|performing|score|result|overall|scenario|setup|experiment|component)\b|\bworst (?:\w+ )?(?:variant|ablation|config\w*|model|performing|score|result|scenario|component)\b|\b(?:therefore|hence|suggests?|indicates?|outperform\w*|should be kept|is essential|matters most|matters least|is crucial|is critical|we conclude|this means)\b|\b(?:improved?|improves|hurts?|degrade[sd]?|affects?) (?:the )?(?:performance|model|score|results?) (?:the )?(?:most|least)\b|\b(?:composante? la plus|wichtigste|más importante|mais importante|più importante|le plus important)\b/i;

const ORDER =
  /\b(?:ignore|disregard|forget|override)\b.{0,80}\b(?:instructions?|numbers?|above|below|previous|prior|scores?|output|figures?|table|results?|measurements?)\b|\b(?:you (?:must|should|shall|are to|will)|please|always|make sure to|be sure to)\b.{0,80}\b(?:say|state|report|summari[sz]e|name|answer|write|output|conclude|rank|declare|claim|mention|respond|treat)\b|^\W*(?:system|assistant|user|human|developer|instructions?|to the summari[sz]er|attention|important|hey|dear|prompt)\b\s*(?:(?:\([^)]{0,40}\)|prompt|message|note)\s*)?[:>,]|<\/?(?:system|instructions?|assistant|user)>|\[\/?INST\]|\bsummari[sz]er\b|\blanguage model\b|\bas an ai\b/i;

export function isLibraryNoise(line: string): boolean {
  if (line.length < 4) return false;
  const start = line.slice(0, 300);
  return NOISE.some((pattern) => pattern.test(start));
}

export function isHousekeeping(line: string): boolean {
  const start = line.slice(0, 300);
  return HOUSEKEEPING.test(start) || matchesInOrder(start, BEFORE_NUMBER, /\d/);
}

/** A sentence in which the script tells its own ranking; the ranking is computed from the scores instead. */
export function isConclusion(line: string): boolean {
  return CONCLUSION.test(line.slice(0, 400));
}

/** Text that speaks to the reader of the output; data, and no source of scores. */
export function isOrder(line: string): boolean {
  return ORDER.test(line.slice(0, 600));
}

/** The source line that Python prints below a warning. */
export function isWarningSource(line: string, previous: string | undefined): boolean {
  return (
    previous !== undefined &&
    /Warning: /.test(previous.slice(0, 400)) &&
    WARNING_SOURCE_LINE.test(line.slice(0, 300))
  );
}

/** Words of the system about a run that ended before the script did. */
const INTERRUPTION =
  /^\W*(?:killed|terminated|segmentation fault|aborted|out of memory|oom[- ]?kill\w*|timeout|timed out|time limit (?:reached|exceeded)|keyboardinterrupt|bus error|core dumped)\b|\bCUDA out of memory\b|\bMemoryError\b|\bexecution (?:timed out|stopped|aborted|killed)\b|\b(?:timed out|timeout|killed|terminated) after \d|process (?:was )?killed|exceeded (?:the )?time limit/i;

/** `[no_mixup] ERROR: out of memory`: only the run in brackets has failed. */
const FAILED_IN_BRACKETS =
  /^\s{0,20}\[([^[\]]{2,80})\]\s{0,4}:?\s{0,4}(?:error|exception|failed|failure|crashed|killed|(?:cuda )?out of memory|oom|time(?:d )?out)\b/i;

/** The name in brackets of the run that a line says has failed. */
export function failedInBrackets(line: string): string | undefined {
  return FAILED_IN_BRACKETS.exec(line.slice(0, 300))?.[1];
}

export function interruptionIn(line: string): string | undefined {
  const start = line.slice(0, 300);
  if (failedInBrackets(start) !== undefined) return undefined;
  const isInterruption =
    INTERRUPTION.test(start) || matchesInOrder(start, /\bslurmstepd\b/i, /\b(?:oom|cancel|time limit)/i);
  return isInterruption ? line.trim().slice(0, 200) : undefined;
}
