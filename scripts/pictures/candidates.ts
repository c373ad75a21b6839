import { readFile } from 'node:fs/promises';
import { packagePath } from '../../src/package-root.js';

/** A candidate of the run that is shown. */
interface Candidate {
  readonly key: string;
  readonly solution: { readonly content: string };
}

/** Changes of the example's solution: each is a text of it and its replacement. */
type Change = readonly [string, string];

const neighbors = (count: number): Change => ['n_neighbors=25', `n_neighbors=${count}`];
const components = (count: number): Change => ['n_components=8', `n_components=${count}`];

/** A scaler is fitted before the split, on the rows that score. */
const LEAKY_SCALER: readonly Change[] = [
  [
    'X, y = load_digits(return_X_y=True)\n',
    'X, y = load_digits(return_X_y=True)\nX = preprocessing.StandardScaler().fit_transform(X)\n',
  ],
  ['threshold=8.0', 'threshold=0.0'],
];
/** The images have 64 pixels, so this reducer fails. */
const TOO_MANY: readonly Change[] = [components(80)];

const CHANGES: readonly (readonly [string, readonly Change[]])[] = [
  ...[1, 3, 5, 9, 15, 25].flatMap((count) =>
    [4, 8, 16, 32].map((size): [string, Change[]] => [
      `neighbors-${count}-components-${size}`,
      [neighbors(count), components(size)],
    ]),
  ),
  ['standard-scaler-before-split', LEAKY_SCALER],
  ['standard-scaler-before-split-neighbors-3', [...LEAKY_SCALER, neighbors(3)]],
  ['components-80', TOO_MANY],
  ['components-80-neighbors-3', [...TOO_MANY, neighbors(3)]],
  ['threshold-4', [['threshold=8.0', 'threshold=4.0']]],
  ['threshold-12', [['threshold=8.0', 'threshold=12.0']]],
];

/** Variants of the solution of the TypeScript example: clean ones, two with a leak, two that fail. */
export async function candidates(): Promise<Candidate[]> {
  const path = packagePath('examples', 'pipeline-ts', 'python', 'solution.py');
  const solution = await readFile(path, 'utf8');
  return CHANGES.map(([key, changes]) => {
    let content = solution;
    for (const [before, after] of changes) {
      if (!content.includes(before)) throw new Error(`the example has no ${JSON.stringify(before)}`);
      content = content.replace(before, () => after);
    }
    return { key, solution: { content } };
  });
}
