import { lineIndex, type Module, type Stmt } from '../syntax/ast.js';
import { parseModule } from '../syntax/parse-module.js';
import { statementsIn } from '../syntax/walk.js';

/** Modules whose functions the analysis has models of, or that do nothing with rows that a model would have to know of. */
const KNOWN_MODULES: ReadonlySet<string> = new Set(
  [
    'numpy pandas polars scipy sklearn imblearn statsmodels xgboost lightgbm catboost torch torchvision tensorflow keras',
    'category_encoders transformers datasets joblib pickle dill cloudpickle h5py pyarrow dask cudf cuml optuna hyperopt skopt',
    'matplotlib mpl_toolkits pylab seaborn plotly bokeh altair missingno IPython ipywidgets tqdm rich tabulate wandb mlflow psutil',
    'lifelines sksurv PIL cv2 dotenv yaml bs4 difflib rapidfuzz wordcloud folium pywaffle yfinance',
    '__future__ abc argparse ast base64 bisect calendar collections concurrent contextlib copy csv dataclasses datetime decimal enum',
    'fractions functools gc getpass glob gzip hashlib heapq html inspect io itertools json locale logging math multiprocessing numbers',
    'operator os pathlib platform pprint queue random re shutil signal socket sqlite3 statistics string struct subprocess sys tempfile',
    'textwrap threading time timeit traceback types typing typing_extensions unicodedata unittest urllib uuid warnings weakref zipfile',
    'zlib zoneinfo',
  ]
    .join(' ')
    .split(' '),
);

/** A module whose contents are not known, where it is imported. */
export interface UnknownModule {
  readonly name: string;
  /** Counted from 1. */
  readonly line: number;
}

/**
 * Modules that a script imports and the analysis knows nothing of, such as other files of the user. The analysis takes what their
 * functions return for made of the rows of their arguments: it does not know what they learn from these.
 */
export async function unknownModules(source: string): Promise<UnknownModule[]> {
  const module = await parseModule(source);
  const lineOf = lineIndex(source);
  return [...importsOf(module)].flatMap((statement) =>
    modulesOf(statement)
      .filter((name) => !KNOWN_MODULES.has(name))
      .map((name) => ({ name, line: lineOf(statement.start) })),
  );
}

function* importsOf({ body }: Module): Generator<Stmt & { readonly type: 'import' }> {
  for (const top of body.statements)
    for (const statement of statementsIn(top)) if (statement.type === 'import') yield statement;
}

/** The first parts of the paths; of a relative import, the empty text. */
function modulesOf({ bindings, star }: Stmt & { readonly type: 'import' }): string[] {
  const paths = [...bindings.map(({ path }) => path), ...(star === undefined ? [] : [star])];
  return [...new Set(paths.map((path) => path.split('.')[0] ?? ''))];
}
