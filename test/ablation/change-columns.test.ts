import { describe, expect, it } from 'vitest';
import { readAblation, summarizeAblation } from '../../src/ablation/index.js';

/** Metric and direction, the changes in order of impact, and the further score columns. */
interface Expected {
  readonly metric: string | undefined;
  readonly direction: 'higher' | 'lower' | 'unknown';
  readonly changes: Readonly<Record<string, number>>;
  readonly others?: readonly string[];
}

const F1: Expected = {
  metric: 'f1',
  direction: 'higher',
  changes: { imputer: 0.05, scaler: -0.02 },
};

const CASES: Readonly<Record<string, readonly [output: string, expected: Expected]>> = {
  'aligned, `ref` in the baseline': [
    'variant            f1      delta\nbaseline       0.6830        ref\nno scaler      0.6630    -0.0200\nno imputer     0.7330    +0.0500\n',
    F1,
  ],
  'aligned, `--` in the baseline': [
    'variant            f1      delta\nbaseline       0.6830        --\nno scaler      0.6630    -0.0200\nno imputer     0.7330    +0.0500\n',
    F1,
  ],
  'aligned, nothing in the baseline': [
    'variant            f1      delta\nbaseline       0.6830\nno scaler      0.6630    -0.0200\nno imputer     0.7330    +0.0500\n',
    F1,
  ],
  'aligned, the differences before the scores': [
    'Ablation      delta     f1\nbaseline      ref       0.6830\nno scaler     -0.0200   0.6630\nno imputer    +0.0500   0.7330\n',
    F1,
  ],
  'single spaces': [
    'variant f1 delta\nbaseline 0.683 ref\nno_scaler 0.663 -0.020\nno_imputer 0.733 +0.050\n',
    F1,
  ],
  'pandas, the index below the titles, NaN and seconds': [
    '                f1     change  seconds\nvariant                               \nbaseline    0.6830        NaN     12.1\nno_scaler   0.6630    -0.0200     11.8\nno_imputer  0.7330     0.0500     12.5\n',
    F1,
  ],
  'lines with a mapping each': [
    "baseline: {'f1': 0.683, 'delta': 0.0}\nno_scaler: {'f1': 0.663, 'delta': -0.02}\nno_imputer: {'f1': 0.733, 'delta': 0.05}\n",
    F1,
  ],
  'Markdown, Δ and `ref`': [
    '| Variant | RMSE | Δ |\n|---|---|---|\n| Full | 12.41 | ref |\n| w/o lags | 14.02 | +1.61 |\n| w/o holidays | 12.11 | -0.30 |\n',
    { metric: 'RMSE', direction: 'lower', changes: { lags: 1.61, holidays: -0.3 } },
  ],
  'Markdown, percentages and an impact': [
    '| Configuration | Accuracy | Impact |\n|:--|--:|--:|\n| Baseline | 84.2% | — |\n| No TF-IDF | 80.1% | -4.1% |\n| No bigrams | 84.6% | +0.4% |\n',
    { metric: 'Accuracy', direction: 'higher', changes: { 'TF-IDF': -4.1, bigrams: 0.4 } },
  ],
  'deviations behind the scores': [
    'variant      rmse           diff\nfull         0.512 ± 0.011  (ref)\nno_pca       0.540 ± 0.014  +0.028\nno_log       0.498 ± 0.009  -0.014\n',
    { metric: 'rmse', direction: 'lower', changes: { pca: 0.028, log: -0.014 } },
  ],
  'JSON lines': [
    '{"variant": "baseline", "auc": 0.911, "change": "ref"}\n{"variant": "no_target_encoding", "auc": 0.874, "change": "-0.037"}\n{"variant": "no_smote", "auc": 0.915, "change": "+0.004"}\n',
    { metric: 'auc', direction: 'higher', changes: { target_encoding: -0.037, smote: 0.004 } },
  ],
  'log lines with keys': [
    '2025-01-03 10:00:01 INFO ablation: variant=baseline mae=3.21 change=ref\n2025-01-03 10:01:01 INFO ablation: variant=no_weather mae=3.95 change=+0.74\n2025-01-03 10:02:01 INFO ablation: variant=no_outlier_clip mae=3.10 change=-0.11\n',
    { metric: 'mae', direction: 'lower', changes: { weather: 0.74, outlier_clip: -0.11 } },
  ],
  'CSV, two metrics and an empty impact': [
    'variant,logloss,accuracy,impact\nbaseline,0.412,0.812,\nno_embeddings,0.530,0.744,0.118\nno_dropout,0.405,0.815,-0.007\n',
    {
      metric: 'logloss',
      direction: 'lower',
      changes: { embeddings: 0.118, dropout: -0.007 },
      others: ['accuracy'],
    },
  ],
  'tabs, an empty cell at the end': [
    'variant\tRMSE\tRMSE change\nbaseline\t10.0\t\nno lags\t12.0\t2.0\nno log\t9.0\t-1.0\n',
    { metric: 'RMSE', direction: 'lower', changes: { lags: 2, log: -1 } },
  ],
  'semicolons, decimal commas, a gain': [
    'experiment;auc;gain\nbaseline;0,871;\nohne Skalierung;0,869;-0,002\nohne Zeitmerkmale;0,812;-0,059\n',
    { metric: 'auc', direction: 'higher', changes: { Zeitmerkmale: -0.059, Skalierung: -0.002 } },
  ],
  'a column of what was removed, `(none)` for the baseline': [
    'Component removed    Score   Drop\n(none)               0.77    ref\nngram features       0.71    0.06\nclass weights        0.78    -0.01\n',
    { metric: undefined, direction: 'unknown', changes: { 'ngram features': -0.06, 'class weights': 0.01 } },
  ],
  'a column of what was removed, rules for the baseline': [
    'Removed              Accuracy after removal    Δ vs. full\n---                  0.910                     ---\npositional encoding  0.700                     -0.210\nlabel smoothing      0.912                     +0.002\n',
    {
      metric: 'Accuracy after removal',
      direction: 'higher',
      changes: { 'positional encoding': -0.21, 'label smoothing': 0.002 },
    },
  ],
  'no title above the names': [
    '                 Accuracy     Impact (pp)\nBaseline            91.2%     \n - stopwords        90.8%     -0.4\n - bigrams          88.0%     -3.2\n',
    { metric: 'Accuracy', direction: 'higher', changes: { bigrams: -3.2, stopwords: -0.4 } },
  ],
  'a name as long as its column, and sizes': [
    'Setting             Dice        Δ Dice     Params\nFull model          0.872       -          4.1M\nw/o attention       0.831       -0.041     3.8M\nw/o deep supervision 0.869      -0.003     4.1M\n',
    { metric: 'Dice', direction: 'higher', changes: { attention: -0.041, 'deep supervision': -0.003 } },
  ],
  'an abbreviated title': [
    'Ablation     mAP     Diff.\nFull         43.1    0\n-FPN         38.2    -4.9\n-mosaic      43.5    +0.4\n',
    { metric: 'mAP', direction: 'higher', changes: { FPN: -4.9, mosaic: 0.4 } },
  ],
  'two columns of differences': [
    'Variant           RMSE      Change      Relative\nbaseline          10.00\nno_lags           12.00     +2.00       +20.0%\nno_log             9.00     -1.00       -10.0%\n',
    { metric: 'RMSE', direction: 'lower', changes: { lags: 2, log: -1 } },
  ],
  'an error that goes up, next to an improvement that goes down': [
    'Configuration    Error     Improvement\nbaseline         0.120     baseline\nno_mixup         0.150     -0.030\nno_warmup        0.110     +0.010\n',
    { metric: 'Error', direction: 'lower', changes: { mixup: 0.03, warmup: -0.01 } },
  ],
  'dots, and a direction in words': [
    'Ablation results (lower is better):\n  baseline ......... 0.4412\n  no_text .......... 0.5120 (Δ +0.0708)\n  no_calibration ... 0.4398 (Δ -0.0014)\n',
    { metric: undefined, direction: 'lower', changes: { text: 0.0708, calibration: -0.0014 } },
  ],
  'a direction by an arrow': [
    '| Variant | Score ↑ | Δ |\n|---|---|---|\n| full | 71.0 | ref |\n| w/o memory | 64.5 | -6.5 |\n| w/o noise | 71.4 | +0.4 |\n',
    { metric: 'Score ↑', direction: 'higher', changes: { memory: -6.5, noise: 0.4 } },
  ],
  'one metric on two parts': [
    '| Ablation | Val F1 | Test F1 |\n|---|---|---|\n| Full | 0.811 | 0.805 |\n| w/o lemmas | 0.801 | 0.799 |\n| w/o TTA | 0.780 | 0.802 |\n',
    {
      metric: 'Val F1',
      direction: 'higher',
      changes: { TTA: -0.031, lemmas: -0.01 },
      others: ['Test F1'],
    },
  ],
  'two columns without a metric': [
    '| Ablation | Public | Private | Impact |\n|---|---|---|---|\n| Full | 0.811 | 0.805 | – |\n| w/o CV | 0.801 | 0.799 | -0.010 |\n| w/o TTA | 0.780 | 0.802 | -0.031 |\n',
    {
      metric: 'Public',
      direction: 'unknown',
      changes: { TTA: -0.031, CV: -0.01 },
      others: ['Private'],
    },
  ],
};

describe('a column of differences is never the score', () => {
  it.each(Object.entries(CASES))('REQ-P2O-011: %s', async (_layout, [rawOutput, expected]) => {
    const reading = await readAblation({ ablationCode: '', rawOutput });
    expect(reading).toMatchObject({ direction: expected.direction, otherMetrics: expected.others ?? [] });
    expect(reading.metric).toBe(expected.metric);
    const found = reading.variants.map(({ component, change }) => [component, change]);
    expect(found).toEqual(
      Object.entries(expected.changes).map(([name, change]) => [name, expect.closeTo(change, 6)]),
    );
    // What improves without a component is harmful, whichever way the metric goes.
    const improves = (change: number) => (expected.direction === 'lower' ? change < 0 : change > 0);
    for (const { change, effect } of reading.variants)
      expect(effect).toBe(
        expected.direction === 'unknown' ? 'unknown' : improves(change) ? 'harms' : 'helps',
      );
  });

  it('REQ-P2O-011: only differences: they are ranked, and no score is invented', async () => {
    const rawOutput =
      'variant        Δf1\nbaseline       ref\nno scaler      -0.0200\nno imputer     +0.0500\n';
    const summary = await summarizeAblation({ ablationCode: '', rawOutput });
    expect(summary).toContain('the output gives changes against the baseline only');
    expect(summary).toMatch(/most impactful component is imputer: .* the printed change is \+0\.0500/);
  });
});
