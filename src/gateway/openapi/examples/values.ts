import { digestOf } from '../../../queues/digest.js';
import { NO_USAGE } from '../../../queues/usage.js';

/** The values that the examples share: they tell of one pipeline run. */
export const RUN = 'night-12';
export const KEY = 'night-12/candidate-7';
export const SCRIPT = [
  'scaler = StandardScaler()',
  'X = scaler.fit_transform(X)',
  'X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0)',
  'model = LogisticRegression().fit(X_train, y_train)',
  'print(f"Final Validation Performance: {model.score(X_val, y_val)}")',
  '',
].join('\n');
export const CORRECTED = [
  'X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0)',
  'scaler = StandardScaler()',
  'X_train = scaler.fit_transform(X_train)',
  'X_val = scaler.transform(X_val)',
  'model = LogisticRegression().fit(X_train, y_train)',
  'print(f"Final Validation Performance: {model.score(X_val, y_val)}")',
  '',
].join('\n');
export const CHECK_ID = 'solution-check-4464d6737cc8b5eb5e06710c00d39d8a2ee3f7e1';
export const EVALUATION_ID = 'score-7c2911a39b3738399d730a390f717f620fa38f79';
export const LEASE = '8648fa2c-0e31-4e2a-bea5-29ad16a224d2';

const USAGE = {
  calls: 2,
  reusedCalls: 0,
  inputTokens: 1_904,
  outputTokens: 612,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: 0.0149,
};

export const FINDINGS = [
  {
    leakageStatus: 'Yes Data Leakage',
    codeBlock: 'scaler = StandardScaler()\nX = scaler.fit_transform(X)',
    outcome: 'corrected',
    source: 'agent',
  },
];

export const submitted = (kind: string, id: string) => ({ id, kind, state: 'waiting', outcome: 'created' });

/** A check that has ended, as lists show it. */
export const LISTED_CHECK = {
  id: CHECK_ID,
  kind: 'solution-check',
  state: 'completed',
  key: KEY,
  status: 'corrected',
  progress: 'correcting 1/1',
  usage: USAGE,
  tags: { run: RUN },
  createdAt: '2026-11-29T22:00:00.000Z',
  startedAt: '2026-11-29T22:00:00.120Z',
  endedAt: '2026-11-29T22:00:14.480Z',
  attempts: 1,
};

/** The same check with its result. */
export const ENDED_CHECK = {
  ...LISTED_CHECK,
  result: {
    status: 'corrected',
    solution: { content: CORRECTED },
    solutionDigest: digestOf(SCRIPT),
    findings: FINDINGS,
    usage: USAGE,
    agent: { runner: 'anthropic', model: 'claude-sonnet-5-5' },
  },
};

/** An evaluation that failed for good. */
export const FAILED_EVALUATION = {
  id: EVALUATION_ID,
  kind: 'score',
  state: 'failed',
  key: KEY,
  error: { code: 'job-failed', message: 'the script was killed: out of memory', retryable: false },
  usage: NO_USAGE,
  tags: { run: RUN },
  createdAt: '2026-11-29T22:00:00.000Z',
  startedAt: '2026-11-29T22:00:15.000Z',
  endedAt: '2026-11-29T22:03:15.000Z',
  attempts: 1,
};
