import { describe, expect, it } from 'vitest';
import { COMPONENT_KINDS } from '../../src/ablation/component-kinds.js';
import { planRefinement, summarizeAblation } from '../../src/ablation/index.js';

const FLAT = `import pandas as pd
from sklearn.preprocessing import OneHotEncoder, StandardScaler

df = pd.read_csv('train.csv')
y = df.pop('target')

imputer = SimpleImputer(strategy='median')
df[num] = imputer.fit_transform(df[num])
encoder = OneHotEncoder(handle_unknown='ignore')
encoded = encoder.fit_transform(df[cat])
# scale what is numeric
scaler = StandardScaler()
X_train = scaler.fit_transform(X_train)
model = LogisticRegression(max_iter=1000)
model.fit(X_train, y)
print('Final Validation Performance:', model.score(X_train, y))
`;

const NESTED = `def add_features(df):
    df['Deck'] = df['Cabin'].str[0]
    df['TotalSpend'] = df[['Spa', 'VRDeck']].sum(axis=1)
    return df

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = timm.create_model('resnet18', pretrained=True)
        self.drop = nn.Dropout(0.3)

def main():
    train = add_features(train)
    if len(train) > 0:
        pre = ColumnTransformer([
            ('num', Pipeline([('imp', SimpleImputer()), ('sc', StandardScaler())]), num),
            ('cat', OneHotEncoder(), cat),
        ])
    lgbm = lgb.LGBMClassifier(n_estimators=500, class_weight='balanced')
    te = train.groupby('city')['y'].transform('mean')
    xgbm = xgb.XGBClassifier()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    p = 0.6 * lgbm.predict_proba(V)[:, 1] + 0.4 * xgbm.predict_proba(V)[:, 1]
`;

const plan = (solution: string, summary: string, previousBlocks: string[] = []) =>
  planRefinement({ solution, summary, previousBlocks });
const first = async (solution: string, summary: string) => (await plan(solution, summary))[0]?.code_block;
const sentences = (text: string) => text.split(/(?<=[.!?])\s+/).length;

describe('planning a refinement', () => {
  it('REQ-P2O-015: takes the statements of the most impactful component of the offline summary', async () => {
    const summary = await summarizeAblation({
      ablationCode: 'run()',
      rawOutput:
        'Baseline: 0.8196, No StandardScaler: 0.8102, No OneHotEncoder: 0.7886, No Imputation: 0.8196',
    });
    const plans = await plan(FLAT, summary);
    expect(plans.map((one) => one.code_block).slice(0, 3)).toEqual([
      "encoder = OneHotEncoder(handle_unknown='ignore')\nencoded = encoder.fit_transform(df[cat])",
      'scaler = StandardScaler()\nX_train = scaler.fit_transform(X_train)',
      "imputer = SimpleImputer(strategy='median')\ndf[num] = imputer.fit_transform(df[num])",
    ]);
  });

  it.each([
    ['The most impactful component is the deck feature.', "    df['Deck'] = df['Cabin'].str[0]"],
    ['spend sum is by far the most impactful.', "    df['TotalSpend'] = df[['Spa', 'VRDeck']].sum(axis=1)"],
    [
      'The most critical component is the ensemble weights.',
      '    p = 0.6 * lgbm.predict_proba(V)[:, 1] + 0.4 * xgbm.predict_proba(V)[:, 1]',
    ],
    ['Target encoding contributes the most.', "    te = train.groupby('city')['y'].transform('mean')"],
    [
      'Removing the pretrained weights caused the largest drop.',
      "        self.backbone = timm.create_model('resnet18', pretrained=True)",
    ],
    ['label smoothing has the largest impact', '    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)'],
    ['The most impactful component is XGBoost.', '    xgbm = xgb.XGBClassifier()'],
    [
      'Class weights are the most important part.',
      "    lgbm = lgb.LGBMClassifier(n_estimators=500, class_weight='balanced')",
    ],
    ['**Dropout** matters most.', '        self.drop = nn.Dropout(0.3)'],
    [
      '1. **LightGBM** – largest drop\n2. **OneHotEncoder** – small drop',
      "    lgbm = lgb.LGBMClassifier(n_estimators=500, class_weight='balanced')",
    ],
  ])('maps a component to the statement that makes it: %s', async (summary, block) => {
    expect(await first(NESTED, summary)).toBe(block);
  });

  it.each([
    ['The ensemble weights contribute the most: removing XGBoost raised the loss.', /^ {4}p = 0\.6/],
    [
      'Based on the ablation, the XGBoost component is the most critical; without it the loss rises.',
      /XGBClassifier/,
    ],
    ['Feature engineering was absent; the depth of XGBoost had the highest impact.', /XGBClassifier/],
    [
      'The most impactful component is everything except LightGBM: in the run "LightGBM only" it fell.',
      /^ {4}xgbm = /,
    ],
    ['The least impactful component is Dropout. Most important was label smoothing.', /label_smoothing/],
  ])('tells from the words around a superlative what has the impact: %s', async (summary, block) => {
    expect(await first(NESTED, summary)).toMatch(block);
  });

  it('REQ-P2O-017: takes a whole statement of several lines, with its indentation', async () => {
    const block = await first(NESTED, 'Imputation is the most impactful component.');
    expect(block).toMatch(/^ {8}pre = ColumnTransformer\(\[\n/);
    expect(block).toMatch(/\n {8}\]\)$/);
    expect(NESTED.includes(block ?? '-')).toBe(true);
  });

  it('reads what a model writes', async () => {
    const summary =
      'The baseline achieved an accuracy of 0.983. Scaling had a negligible effect. Among the components, imputation had the strongest influence: without it the score fell to 0.95.';
    expect(await first(FLAT, summary)).toContain('SimpleImputer');
    const scores =
      'The baseline reached 0.90. Removing the scaler decreased accuracy to 0.70, while removing the encoder decreased accuracy to 0.89.';
    expect(await first(FLAT, scores)).toContain('StandardScaler');
  });

  it('does not follow the component that a summary calls the least impactful', async () => {
    const summary =
      'StandardScaler is the least impactful component, while OneHotEncoder is the most impactful one.';
    expect(await first(FLAT, summary)).toContain('OneHotEncoder');
  });

  it('REQ-P2O-016: proposes no block that was refined before, whatever its white space', async () => {
    const summary = 'OneHotEncoder is the most impactful component, StandardScaler comes next.';
    const before =
      "encoder  =  OneHotEncoder(handle_unknown='ignore')\n\n    encoded = encoder.fit_transform(df[cat])\n";
    const plans = await plan(FLAT, summary, [before]);
    expect(plans.length).toBeGreaterThan(1);
    expect(plans.some((one) => one.code_block.includes('OneHotEncoder'))).toBe(false);
  });

  it('REQ-P2O-016: copes with a thousand previous blocks', async () => {
    const many = Array.from({ length: 1000 }, (_, at) => `block_${at} = ${at}`);
    expect(await plan(FLAT, 'The encoder matters most.', many)).toEqual(
      await plan(FLAT, 'The encoder matters most.'),
    );
  });

  it('gives several plans of three to five sentences, each for another part of the script', async () => {
    for (const summary of [
      'OneHotEncoder is the most impactful component.',
      'Nothing could be ranked.',
      'Removing stop words improved the score the most.',
    ]) {
      const plans = await plan(FLAT, summary);
      expect(plans.length).toBeGreaterThanOrEqual(3);
      for (const one of plans) {
        expect(sentences(one.plan)).toBeGreaterThanOrEqual(3);
        expect(sentences(one.plan)).toBeLessThanOrEqual(5);
      }
      expect(new Set(plans.map((one) => one.code_block)).size).toBe(plans.length);
    }
  });

  it('says in the plan that a harmful component may be left out', async () => {
    const [harmful] = await plan(FLAT, 'Removing the StandardScaler improved the accuracy the most.');
    expect(harmful?.code_block).toContain('StandardScaler');
    expect(harmful?.plan).toMatch(/improved without it/);
    const scores =
      'The baseline reached an accuracy of 0.90. Removing the encoder improved the accuracy to 0.95. Removing the scaler decreased the accuracy to 0.89.';
    const [byScores] = await plan(FLAT, scores);
    expect(byScores?.code_block).toContain('OneHotEncoder');
    expect(byScores?.plan).toMatch(/improved without it/);
  });

  it.each([
    ['the attention block', 'The most impactful component is the attention block.', 'attention block'],
    ['SMOTE', 'The most impactful component is SMOTE.', 'SMOTE'],
    ['target encoding', 'Target encoding contributes the most.', 'Target encoding'],
    ['two', 'The attention block matters most, SMOTE the least.', 'attention block'],
  ])('says that a component does not stand in the script: %s', async (_what, summary, name) => {
    const plans = await plan(FLAT, summary);
    expect(plans[0]?.plan).toMatch(new RegExp(`^No statement of the script (?:clearly )?makes .*${name}`));
    for (const one of plans) {
      expect(one.plan).not.toMatch(/^This block makes/);
      expect(sentences(one.plan)).toBeGreaterThanOrEqual(3);
    }
  });

  it('says so too where another component does stand there', async () => {
    const [one] = await plan(FLAT, 'Focal loss matters most.\nStandardScaler has the least impact.');
    expect(one?.plan).toMatch(
      /^No statement of the script makes Focal loss, .*This block makes StandardScaler/,
    );
  });

  it('never advises to choose on the rows that are scored', async () => {
    const made = await plan(FLAT, 'Removing the StandardScaler improved the accuracy the most.');
    const advice = [...COMPONENT_KINDS.flatMap((kind) => kind.advice), ...made.map((one) => one.plan)];
    for (const text of advice.flatMap((one) => one.split(/(?<=[.!?])\s+/))) {
      expect(text).not.toMatch(
        /validation (?:score|part|rows)\b.*\b(?:ris|better|best)|\bon (?:a |the )?validation\b|scores? better/i,
      );
      if (
        /\b(?:compare (?!the plain)|choose (?!the filling)|keep (?:each|whichever|the form)|stop early|early stopping)/i.test(
          text,
        )
      )
        expect(text).toMatch(/training part|mean of ranks/);
    }
  });

  it('proposes neither imports nor prints', async () => {
    for (const { code_block } of await plan(FLAT, 'StandardScaler is the most impactful component.')) {
      expect(code_block).not.toMatch(/^\s*(?:from|import|print)\b/m);
    }
  });

  it('keeps CRLF line ends, tabs and astral characters of the script', async () => {
    const script = `if True:\r\n\tname = '😀'\r\n\tscaler = StandardScaler()\r\n\tX = scaler.fit_transform(X)\r\n`;
    expect(await first(script, 'StandardScaler is the most impactful component.')).toBe(
      '\tscaler = StandardScaler()\r\n\tX = scaler.fit_transform(X)',
    );
  });

  it('takes what parses of a script with a syntax error, and nothing where nothing does', async () => {
    const broken =
      'scaler = StandardScaler()\nX = scaler.fit_transform(X)\n\nfor i in range(3)\n    print i\n';
    expect(await first(broken, 'StandardScaler is the most impactful component.')).toBe(
      'scaler = StandardScaler()\nX = scaler.fit_transform(X)',
    );
    expect(await plan('', 'StandardScaler is the most impactful component.')).toEqual([]);
    expect(await plan('# only a comment\nimport os\n', 'os is the most impactful component.')).toEqual([]);
  });
});
