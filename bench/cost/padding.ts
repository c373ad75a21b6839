import type { seeded } from '../../test/contamination/pairs/corpus.js';

type Random = ReturnType<typeof seeded>;

/** What real scripts have besides what their score depends on: before the first statement, behind the data, and at the end. */
interface Padding {
  readonly helpers: readonly (readonly string[])[];
  readonly data: readonly ((frame: string) => readonly string[])[];
  readonly end: readonly (readonly string[])[];
}

const HELPERS: Padding['helpers'] = [
  [
    'LOG_FORMAT = "%(asctime)s %(levelname)s %(message)s"',
    'logging.basicConfig(level=logging.INFO, format=LOG_FORMAT)',
    'logger = logging.getLogger("solution")',
  ],
  [
    'def seed_everything(seed=42):',
    '    """Makes the run repeatable."""',
    '    random.seed(seed)',
    '    os.environ["PYTHONHASHSEED"] = str(seed)',
    '',
    'seed_everything()',
  ],
  [
    'def elapsed(since):',
    '    """Seconds as a text for the log."""',
    '    seconds = time.time() - since',
    '    minutes, rest = divmod(seconds, 60)',
    '    return f"{int(minutes)} min {rest:.1f} s"',
    '',
    'STARTED = time.time()',
  ],
  [
    'def show_missing(frame, name):',
    '    """Prints the columns with missing values, the worst first."""',
    '    missing = frame.isna().sum()',
    '    missing = missing[missing > 0].sort_values(ascending=False)',
    '    print(f"{name}: {len(missing)} columns with missing values")',
    '    for column, count in missing.head(10).items():',
    '        print(f"  {column}: {count} ({count / len(frame):.1%})")',
  ],
  [
    'def show_memory(frame, name):',
    '    """Prints the memory of a table, by the types of its columns."""',
    '    usage = frame.memory_usage(deep=True)',
    '    print(f"{name}: {usage.sum() / 1024 ** 2:.1f} MB")',
    '    for kind in sorted({str(one) for one in frame.dtypes}):',
    '        columns = [c for c in frame.columns if str(frame[c].dtype) == kind]',
    '        print(f"  {kind}: {len(columns)} columns")',
  ],
  [
    'def draw_histograms(frame, columns, path):',
    '    """Distributions of the numeric columns, four in a row."""',
    '    rows = (len(columns) + 3) // 4',
    '    fig, axes = plt.subplots(rows, 4, figsize=(16, 3 * rows))',
    '    for ax, column in zip(axes.ravel(), columns):',
    '        ax.hist(frame[column].dropna(), bins=40, color="steelblue")',
    '        ax.set_title(column)',
    '        ax.set_ylabel("rows")',
    '    for ax in axes.ravel()[len(columns):]:',
    '        ax.axis("off")',
    '    plt.tight_layout()',
    '    plt.savefig(path)',
    '    plt.close(fig)',
  ],
  [
    'def draw_correlations(frame, path):',
    '    """Correlations of the numeric columns as a heat map."""',
    '    numeric = frame.select_dtypes("number")',
    '    correlations = numeric.corr()',
    '    plt.figure(figsize=(12, 10))',
    '    plt.imshow(correlations, cmap="coolwarm", vmin=-1, vmax=1)',
    '    plt.xticks(range(len(correlations)), correlations.columns, rotation=90)',
    '    plt.yticks(range(len(correlations)), correlations.columns)',
    '    plt.colorbar()',
    '    plt.tight_layout()',
    '    plt.savefig(path)',
    '    plt.close()',
  ],
  [
    'def show_importance(names, values, count=20):',
    '    """Prints the features that matter most."""',
    '    pairs = sorted(zip(names, values), key=lambda pair: -pair[1])',
    '    print("feature importance")',
    '    for name, value in pairs[:count]:',
    '        print(f"  {name:<30} {value:.4f}")',
  ],
  [
    '# ---------------------------------------------------------------------',
    '# Notes',
    '#  * columns with one value are rare here and stay as they are',
    '#  * the baseline of the task is in the first line of the leaderboard',
    '#  * all files are written below ./working',
    '# ---------------------------------------------------------------------',
    'os.makedirs("./working", exist_ok=True)',
  ],
];

const DATA: Padding['data'] = [
  (frame) => [
    `print("shape:", ${frame}.shape)`,
    `print(${frame}.head())`,
    `print(${frame}.describe().T)`,
    `print(${frame}.dtypes.value_counts())`,
  ],
  (frame) => [
    '# How many different values does each column have?',
    `distinct = ${frame}.nunique().sort_values()`,
    'for column, count in distinct.items():',
    '    print(f"{column}: {count} values")',
    'few = [column for column, count in distinct.items() if count < 20]',
    'print(f"{len(few)} columns have fewer than 20 values")',
  ],
  (frame) => [
    'plt.figure(figsize=(10, 4))',
    `plt.bar(range(len(${frame}.columns)), ${frame}.isna().mean())`,
    `plt.xticks(range(len(${frame}.columns)), ${frame}.columns, rotation=90)`,
    'plt.title("missing values by column")',
    'plt.tight_layout()',
    'plt.savefig("./working/missing.png")',
    'plt.close()',
  ],
  (frame) => [
    `numeric_columns = list(${frame}.select_dtypes("number").columns)`,
    `text_columns = [c for c in ${frame}.columns if c not in numeric_columns]`,
    'print(f"{len(numeric_columns)} numeric columns, {len(text_columns)} others")',
    'for column in text_columns[:10]:',
    `    print(column, ${frame}[column].value_counts().head(5).to_dict())`,
  ],
  (frame) => [
    `duplicates = ${frame}.duplicated().sum()`,
    'print(f"rows that occur more than once: {duplicates}")',
    `if ${frame}.isna().any().any():`,
    '    print("there are missing values")',
    'else:',
    '    print("there are no missing values")',
  ],
];

const END: Padding['end'] = [
  [
    'finished = time.strftime("%Y-%m-%d %H:%M:%S")',
    'print(f"finished at {finished}")',
    'print("python", sys.version.split()[0])',
    'print("pandas", pd.__version__)',
  ],
  [
    'with open("./working/run.json", "w") as handle:',
    '    json.dump({"finished": time.time(), "arguments": sys.argv}, handle, indent=2)',
    'print("written: ./working/run.json")',
  ],
  [
    'for name in sorted(os.listdir("./working")):',
    '    size = os.path.getsize(os.path.join("./working", name))',
    '    print(f"{name}: {size / 1024:.0f} kB")',
  ],
];

const IMPORTS = [
  'import json',
  'import logging',
  'import os',
  'import random',
  'import sys',
  'import time',
  'import matplotlib.pyplot as plt',
  'import pandas as pd',
];

const READS = /^(\w+)\s*=\s*pd\.read_\w+\(.*\)\s*$/;

/**
 * A script, and its twin if it has one, with the same further lines: helpers below the imports, a look at the first table that
 * is read, and an end. Lines are added until it has the wanted number, or there are no more.
 */
export function padded(scripts: readonly string[], lines: number, random: Random): string[] {
  const [original = ''] = scripts;
  const table = original.split('\n').find((line) => READS.test(line));
  const frame = table === undefined ? undefined : READS.exec(table)?.[1];
  let missing = lines - original.split('\n').length - IMPORTS.length;
  const take = (parts: readonly (readonly string[])[], fraction: number): string[] => {
    const room = missing * fraction;
    const taken: string[] = [];
    for (const part of shuffled(parts, random)) if (taken.length < room) taken.push(...part, '');
    missing -= taken.length;
    return taken;
  };
  const shown = frame === undefined ? [] : DATA.map((part) => part(frame));
  const data = take(shown, 0.4);
  const end = take(END, 0.2);
  const helpers = take(HELPERS, 1);
  return scripts.map((script) => {
    const source = script.replace(/\n+$/, '').split('\n');
    const future = source.findLastIndex((line) => line.startsWith('from __future__'));
    const at = table === undefined ? -1 : source.indexOf(table);
    return [
      ...source.slice(0, future + 1),
      ...IMPORTS,
      '',
      ...helpers,
      ...(at === -1
        ? source.slice(future + 1)
        : [...source.slice(future + 1, at + 1), ...data, ...source.slice(at + 1)]),
      '',
      ...end,
    ].join('\n');
  });
}

export function shuffled<T>(list: readonly T[], random: Random): T[] {
  const result = [...list];
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [result[at], result[other]] = [result[other] as T, result[at] as T];
  }
  return result;
}
