/** Libraries that a correction may import although the script did not: they compute on data. */
export const DATA_LIBRARIES: ReadonlySet<string> = new Set([
  ...['__future__', 'collections', 'copy', 'dataclasses', 'datetime', 'functools', 'itertools', 'math'],
  ...['operator', 'random', 're', 'statistics', 'string', 'time', 'typing', 'warnings'],
  ...['numpy', 'pandas', 'polars', 'scipy', 'sklearn', 'statsmodels', 'imblearn', 'category_encoders'],
  ...['feature_engine', 'lightgbm', 'xgboost', 'catboost', 'torch', 'torchvision', 'tensorflow', 'keras'],
  ...['optuna', 'tqdm', 'matplotlib', 'seaborn'],
]);

/** Names that run code, or reach the system, the network or other programs. */
const REACHES_OUT = [
  ...['exec', 'eval', 'compile', '__import__', 'globals', 'locals', 'vars', 'getattr', 'setattr', 'delattr'],
  ...['open', 'input', 'breakpoint', 'get_ipython', 'os', 'sys', 'subprocess', 'socket', 'shutil', 'ctypes'],
  ...[
    'importlib',
    'builtins',
    'requests',
    'urllib',
    'urllib3',
    'http',
    'httpx',
    'aiohttp',
    'ftplib',
    'smtplib',
  ],
  ...[
    'pickle',
    'dill',
    'cloudpickle',
    'joblib',
    'marshal',
    'shelve',
    'multiprocessing',
    'inspect',
    'runpy',
    'pty',
  ],
  ...[
    'system',
    'popen',
    'Popen',
    'check_output',
    'check_call',
    'getoutput',
    'getstatusoutput',
    'fork',
    'spawn',
  ],
  ...['execl', 'execv', 'execve', 'execvp', 'spawnl', 'spawnv', 'posix_spawn', 'urlopen', 'urlretrieve'],
  ...['read_pickle', 'allow_pickle', 'f2py', 'distutils', 'cpp_extension', 'exec_command', 'ctypeslib'],
  ...[
    'hub',
    'get_file',
    'write_file',
    'load_library',
    'load_op_library',
    'trust_remote_code',
    'from_pretrained',
  ],
  ...[
    'download',
    'extractall',
    'import_module',
    'attrgetter',
    'methodcaller',
    'SystemExit',
    'exit',
    'quit',
    '_exit',
  ],
  // Frames of running code hold the names of the interpreter.
  ...['gi_frame', 'cr_frame', 'ag_frame', 'tb_frame', 'gi_code', 'cr_code', 'ag_code'],
  ...['f_globals', 'f_builtins', 'f_locals', 'f_back', 'f_code', 'with_traceback'],
  // Functions of libraries that evaluate texts, read attributes by name or make connections.
  ...['testing', 'runstring', 'rundocs', 'get_type_hints', 'ForwardRef', 'computation', 'get_field'],
  ...['Formatter', 'DataSource', 'load_dataset', 'load_model', 'gfile', 'sleep'],
  // Attributes alone: of variables of these names nobody knows what they are.
  ...['.load', '.loads', '.dump', '.save', '.abort'],
  // Also as an attribute, except for a call without arguments, which is PyTorch's.
  '.eval',
];

/** Names that write files. */
const WRITES = [
  ...[
    'to_csv',
    'to_json',
    'to_pickle',
    'to_parquet',
    'to_feather',
    'to_sql',
    'to_hdf',
    'to_excel',
    'savetxt',
    'savez',
  ],
  ...[
    'savez_compressed',
    'tofile',
    'write_text',
    'write_bytes',
    'writelines',
    'rmtree',
    'unlink',
    'save_model',
  ],
  ...['to_html', 'to_markdown', 'to_latex', 'to_xml', 'to_stata', 'to_orc', 'to_clipboard', 'to_gbq'],
  ...['ExcelWriter', 'HDFStore', 'savefig', 'imsave', 'imwrite', 'savemat', 'mmwrite', 'memmap'],
  ...['open_memmap', 'dump_svmlight_file', 'save_weights', 'save_img', 'write_image', 'write_html'],
  ...['write_csv', 'write_parquet', 'write_json', 'write_ndjson', 'write_ipc', 'write_excel', 'write_avro'],
  ...['write_database', 'write_delta', 'sink_csv', 'sink_parquet', 'sink_ipc', 'sink_ndjson'],
  ...['ModelCheckpoint', 'CSVLogger', 'TensorBoard', 'BackupAndRestore'],
];

/** What attributes of these names are, is another matter: `model.compile`, `pd.io` and `image.open` are harmless enough. */
const BARE_ONLY: ReadonlySet<string> = new Set([
  ...[
    'exec',
    'eval',
    'compile',
    'vars',
    'open',
    'input',
    'system',
    'spawn',
    'inspect',
    'http',
    'requests',
    'fork',
  ],
]);

const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(
  [...REACHES_OUT, ...WRITES]
    .flatMap((name) => (name.startsWith('.') || BARE_ONLY.has(name) ? [name] : [name, `.${name}`]))
    .concat('.system', '.spawn', '.fork', '.exec'),
);

/** Double underscores reach into the interpreter, with these exceptions. */
const PLAIN_DUNDERS = /^\.?__(?:name|init|call|len|getitem|iter|next|repr|str|file|version)__$/;

/** Functions of scikit-learn that load data sets from the network. */
const FETCHES =
  /^\.?fetch_(?:openml|california_housing|20newsgroups\w*|covtype|kddcup99|lfw_\w+|olivetti_faces|rcv1|species_distributions|file)$/;

export function isForbidden(name: string): boolean {
  if (FETCHES.test(name)) return true;
  // Libraries keep the modules that they import under private names: `random._os`.
  const plain = name.replace(/^(\.?)_(?!_)/, '$1');
  return FORBIDDEN_NAMES.has(name) || FORBIDDEN_NAMES.has(plain) || isInnerDunder(name);
}

/**
 * Whether a text names something forbidden: `table.apply("to_csv")` calls it. A word alone may also be the name of a column,
 * as `open` and `system` are.
 */
export function namesForbidden(text: string): boolean {
  const isCompound = /^\w+$/.test(text) && text.slice(1, -1).includes('_');
  return (isCompound && isForbidden(`.${text}`)) || /\.__\w+__/.test(text);
}

/** Paths that lead out of the folder of a script. */
export const LEADS_OUT = /^(?:[/\\~]|[A-Za-z]:[\\/])|(?:^|[\\/])\.\.(?:[\\/]|$)/;

function isInnerDunder(name: string): boolean {
  return /^\.?__\w+__$/.test(name) && !PLAIN_DUNDERS.test(name);
}

/** Calls that learn from data or evaluate it: a correction that ends the last one of a script is worth a word. */
export const STEPS: ReadonlySet<string> = new Set([
  ...['.fit', '.fit_transform', '.fit_resample', '.fit_predict', '.transform', '.predict', '.predict_proba'],
  ...['.score', '.resample', 'train_test_split', 'cross_val_score', 'cross_validate', 'cross_val_predict'],
]);

/** Calls whose results are scores, by the last word of their names. */
export const SCORES = /(?:^|_)(?:score|error|loss|evaluate|cross_validate|report)$/;

/** Names with which columns or rows go. */
export const DROPS: ReadonlySet<string> = new Set(['.drop', '.dropna', '.drop_duplicates', '.pop']);

/** Names with which files are read. */
export const READS = /^\.?(?:read_[a-z]+|load_dataset|loadtxt|genfromtxt|imread|fromfile|memmap|fetch_\w+)$/;

/** Functions that Python has without an import. */
export const BUILTINS: ReadonlySet<string> = new Set([
  ...[
    'abs',
    'all',
    'any',
    'bool',
    'bytes',
    'callable',
    'chr',
    'dict',
    'divmod',
    'enumerate',
    'filter',
    'float',
  ],
  ...[
    'format',
    'frozenset',
    'hasattr',
    'hash',
    'id',
    'int',
    'isinstance',
    'issubclass',
    'iter',
    'len',
    'list',
  ],
  ...['map', 'max', 'min', 'next', 'object', 'ord', 'pow', 'print', 'property', 'range', 'repr', 'reversed'],
  ...['round', 'set', 'slice', 'sorted', 'str', 'sum', 'super', 'tuple', 'type', 'zip', 'display'],
  ...[
    'ValueError',
    'TypeError',
    'KeyError',
    'RuntimeError',
    'Exception',
    'AssertionError',
    'NotImplementedError',
  ],
]);
