/**
 * The kinds of leak that the analysis distinguishes, most harmful first, with the severity each has and what a
 * reader can do about it. `high`: rows or labels are shared with the scored rows, or something was chosen on
 * them; `medium`: statistics of the label or of groups, choice of features; `low`: statistics without the label.
 */
export type Severity = 'high' | 'medium' | 'low';

export const LEAK_KINDS = {
  'training-rows': {
    severity: 'high',
    title: 'training rows include scored rows',
    whatToDo: 'Fit the model on the training part only; fit again on everything after the score is printed.',
  },
  'early-stopping': {
    severity: 'high',
    title: 'early stopping on the scored rows',
    whatToDo:
      'Stop early on a part held out of the training rows, and score on rows that took no part in it.',
  },
  selection: {
    severity: 'high',
    title: 'a choice made on the scored rows',
    whatToDo:
      'Choose on a part held out of the training rows (or by inner folds), then score once on the rest.',
  },
  stacking: {
    severity: 'high',
    title: 'stacking without out-of-fold predictions',
    whatToDo: 'Train the second model on out-of-fold predictions of the training part.',
  },
  'pseudo-labels': {
    severity: 'high',
    title: 'pseudo-labels of scored rows',
    whatToDo: 'Take pseudo-labels from rows that are never scored.',
  },
  'over-sampling': {
    severity: 'high',
    title: 'over-sampling before the split',
    whatToDo: 'Split first and over-sample the training part only.',
  },
  'duplicated-rows': {
    severity: 'high',
    title: 'rows duplicated before the split',
    whatToDo: 'Split first and duplicate or augment rows of the training part only.',
  },
  'future-values': {
    severity: 'high',
    title: 'features from the future',
    whatToDo: 'Use past values only: positive shifts, trailing windows, forward fill.',
  },
  'shuffled-time': {
    severity: 'high',
    title: 'time order broken by the split',
    whatToDo: 'Split by time: train on the past, score on what comes after it.',
  },
  'group-overlap': {
    severity: 'high',
    title: 'one group on both sides of the split',
    whatToDo: 'Split by group (GroupKFold, GroupShuffleSplit), so that no group is on both sides.',
  },
  'label-in-features': {
    severity: 'high',
    title: 'the label among the features',
    whatToDo: 'Drop the label, and every column computed from it, from the features.',
  },
  'target-encoding': {
    severity: 'medium',
    title: 'label statistics over scored rows',
    whatToDo:
      'Compute the label statistics on the training part (or out of fold) and map them onto both parts.',
  },
  'group-statistics': {
    severity: 'medium',
    title: 'group statistics over scored rows',
    whatToDo: 'Compute the group statistics on the training part and map them onto both parts.',
  },
  'feature-selection': {
    severity: 'medium',
    title: 'features chosen on scored rows',
    whatToDo: 'Choose the features on the training part (inside the folds where there are folds).',
  },
  clustering: {
    severity: 'low',
    title: 'clusters fitted on scored rows',
    whatToDo: 'Fit the clusters on the training part and assign both parts to them.',
  },
  projection: {
    severity: 'low',
    title: 'projection fitted on scored rows',
    whatToDo: 'Fit the projection on the training part and transform both parts with it.',
  },
  vocabulary: {
    severity: 'low',
    title: 'text vectorizer fitted on scored rows',
    whatToDo: 'Fit the vectorizer on the training texts and transform both parts with it.',
  },
  encoding: {
    severity: 'low',
    title: 'encoder fitted on scored rows',
    whatToDo: 'Fit the encoder on the training part and transform both parts with it.',
  },
  binning: {
    severity: 'low',
    title: 'bin edges taken from scored rows',
    whatToDo: 'Take the bin edges from the training part and apply them to both parts.',
  },
  imputation: {
    severity: 'low',
    title: 'fill values taken from scored rows',
    whatToDo: 'Take the fill values from the training part and fill both parts with them.',
  },
  scaling: {
    severity: 'low',
    title: 'scaling fitted on scored rows',
    whatToDo: 'Fit the scaling on the training part and transform both parts with it.',
  },
  statistics: {
    severity: 'low',
    title: 'statistics of scored rows in the features',
    whatToDo: 'Compute the statistics on the training part and apply them to both parts.',
  },
} as const satisfies Record<string, { severity: Severity; title: string; whatToDo: string }>;

export type LeakKind = keyof typeof LEAK_KINDS;
