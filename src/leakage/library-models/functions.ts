import { FUNCTION_FAMILIES, type FunctionFamily } from './function-families.js';

/** Functions that rows come from: reading a file, loading a data set, drawing numbers. */
const SOURCES: FunctionFamily = {
  effect: 'source',
  paths: [
    ...[
      'csv',
      'parquet',
      'feather',
      'excel',
      'json',
      'pickle',
      'sql',
      'hdf',
      'table',
      'fwf',
      'orc',
      'stata',
      'sql_query',
      'ndjson',
      'ipc',
      'database',
    ].map((name) => `pandas.read_${name}`),
    ...['csv', 'parquet', 'ipc', 'json', 'ndjson', 'excel', 'database', 'avro'].map(
      (name) => `polars.read_${name}`,
    ),
    ...['csv', 'parquet', 'ipc', 'ndjson'].map((name) => `polars.scan_${name}`),
    'numpy.load',
    'numpy.genfromtxt',
    'numpy.loadtxt',
    'numpy.random.rand',
    'numpy.random.randn',
    'numpy.random.normal',
    'sklearn.datasets.*',
    'datasets.load_dataset',
    'torchvision.datasets.*',
    'seaborn.load_dataset',
    'cudf.read_csv',
    'dask.dataframe.read_csv',
    'joblib.load',
    'pickle.load',
    'torch.load',
    'scipy.io.loadmat',
    'h5py.File',
    'os.listdir',
    'os.scandir',
    'glob.glob',
  ],
  source: 'pandas IO tools; polars IO; numpy IO; sklearn.datasets',
};

interface Pattern {
  readonly test: (path: string) => boolean;
  readonly family: FunctionFamily;
}
const exact = new Map<string, FunctionFamily>();
const patterns: Pattern[] = [];

/** Whether a path has the parts between the stars of a pattern, in order and without overlap. */
function wildcard(pattern: string): (path: string) => boolean {
  const [start = '', ...others] = pattern.split('*');
  const end = others.pop() ?? '';
  return (path) => {
    if (!path.startsWith(start)) return false;
    let position = start.length;
    for (const part of others) {
      const found = path.indexOf(part, position);
      if (found === -1) return false;
      position = found + part.length;
    }
    return path.length - end.length >= position && path.endsWith(end);
  };
}

for (const family of [SOURCES, ...FUNCTION_FAMILIES]) {
  for (const path of family.paths) {
    if (!path.includes('*')) exact.set(path, family);
    else {
      patterns.push({ test: wildcard(path), family });
    }
  }
}

/** What is known about a library function. */
export function functionFamily(path: string): FunctionFamily | undefined {
  return exact.get(path) ?? patterns.find((pattern) => pattern.test(path))?.family;
}
