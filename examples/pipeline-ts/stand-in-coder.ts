import { readFileSync } from 'node:fs';

/**
 * A STAND-IN for the pipeline's coder agent. A real one reads the plan and rewrites the block; this one is a short
 * list of rewrites that it knows, does not read the plan, and knows nothing of any other solution.
 *
 * Coders also propose what leaks, mostly with good intentions, and what they remember. Two of the rewrites leak and one is
 * copied from a published solution: they are here so that a run shows what the checks before every evaluation make of them.
 */
interface Rewrite {
  readonly idea: string;
  /** Each text must be in the block and is replaced by the other. */
  readonly replace: readonly (readonly [string, string])[];
}

const BINARIZER = 'preprocessing.Binarizer(threshold=8.0)';
const NEIGHBORS = 'n_neighbors=25';
const COMPONENTS = 'n_components=8';

const PUBLISHED = readFileSync(new URL('./python/published.py', import.meta.url), 'utf8');
/** The features of the published solution. */
const PUBLISHED_FEATURES = PUBLISHED.split('\n\n\n')[1] ?? '';

const REWRITES: readonly Rewrite[] = [
  {
    idea: 'gray levels instead of black and white: a z-score of each pixel',
    replace: [[BINARIZER, 'preprocessing.StandardScaler()']],
  },
  {
    // Leaks: the range of the scored images goes into the features.
    idea: 'gray levels from 0 to 1, with the range taken from every image there is',
    replace: [
      [BINARIZER, 'preprocessing.MinMaxScaler()'],
      [
        'X_train = scaler.fit_transform(X_train)',
        'scaler.fit(np.vstack([X_train, X_valid]))\nX_train = scaler.transform(X_train)',
      ],
    ],
  },
  {
    idea: 'three neighbors, the nearer ones with more weight',
    replace: [[NEIGHBORS, 'n_neighbors=3, weights="distance"']],
  },
  {
    // Leaks: the scored images are training images, so that each is its own nearest neighbor.
    idea: 'the same, with more images to find the neighbors among',
    replace: [
      [NEIGHBORS, 'n_neighbors=3, weights="distance"'],
      [
        'model.fit(X_train, y_train)',
        'model.fit(\n    np.vstack([X_train, X_valid]),\n    np.hstack([y_train, y_valid]),\n)',
      ],
    ],
  },
  {
    idea: 'as many components as hold 95 % of the variance',
    replace: [[COMPONENTS, 'n_components=0.95']],
  },
  {
    idea: 'as many components as hold 95 % of the variance, all of one scale',
    replace: [[COMPONENTS, 'n_components=0.95, whiten=True']],
  },
  {
    // Copied from a published solution, which the fleet knows.
    idea: 'instead of components, features that it saw somewhere',
    replace: [
      ['reducer = decomposition.PCA(n_components=8, random_state=SEED)', PUBLISHED_FEATURES],
      ['reducer.fit_transform', 'stroke_features'],
      ['reducer.transform', 'stroke_features'],
    ],
  },
];

export interface RefinedBlock {
  readonly idea: string;
  readonly code: string;
}

/** Refinements of a block, in the order in which they are tried; none where the stand-in knows nothing of it. */
export function refineBlock(block: string): RefinedBlock[] {
  return REWRITES.filter(({ replace }) => replace.every(([text]) => block.includes(text))).map(
    ({ idea, replace }) => ({
      idea,
      code: replace.reduce((code, [text, refined]) => code.replace(text, () => refined), block),
    }),
  );
}
