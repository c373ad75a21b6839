import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { analyzeLeakage } from '../../src/leakage/index.js';
import { packagePath } from '../../src/package-root.js';
import { parsesAsPython } from '../../src/solution/index.js';
import type { BenchRow } from '../harness/row.js';
import { median, timed } from '../harness/statistics.js';

/** A script of 300 lines with a leak: a realistic head, then many small transformations of its columns. */
export const SCRIPT = [
  'import pandas as pd',
  'from sklearn.linear_model import Ridge',
  'from sklearn.model_selection import train_test_split',
  'from sklearn.preprocessing import StandardScaler',
  'data = pd.read_csv("train.csv")',
  ...Array.from(
    { length: 288 },
    (_, index) => `data["feature_${index}"] = data["column_${index}"] * ${index} + data["other"]`,
  ),
  'X, y = data.drop(columns=["target"]), data["target"]',
  'scaler = StandardScaler()',
  'X = scaler.fit_transform(X)',
  'X_train, X_val, y_train, y_val = train_test_split(X, y)',
  'model = Ridge().fit(X_train, y_train)',
  'print(model.score(X_val, y_val))',
  '',
].join('\n');

export const staticCheck: BenchRow = {
  name: 'static check',
  work: 'offline leakage check of a 300-line script, warm',
  against: "python's ast.parse alone of the same script, in a running interpreter",
  target: null,
  runs: 9,
  run: async () => {
    const analyze: number[] = [];
    const parse: number[] = [];
    for (let index = 0; index < 20; index += 1) {
      // The syntax of a script that was analyzed before is cached.
      const script = `${SCRIPT}# ${index}\n`;
      analyze.push(await timed(() => analyzeLeakage(script)));
      parse.push(await timed(() => parsesAsPython(script)));
    }
    const ours = median(analyze);
    const floor = median(parse);
    return {
      ratio: ours / floor,
      details: { analysis: `${ours.toFixed(1)} ms`, 'ast.parse': `${floor.toFixed(1)} ms` },
    };
  },
};

async function run(command: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: 'ignore' });
  await once(child, 'exit');
}

/** The start of the command with one file, and its end with the result. */
function startRow(name: string, what: string, script: () => Promise<string>): BenchRow {
  return {
    name,
    work: `\`fleet check\` on ${what}, cold, to its result`,
    against: '`node -e ""`, as a floor',
    target: { atMost: 0.5 },
    unit: 's over the floor',
    runs: 9,
    run: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'fleet-start-'));
      await writeFile(join(folder, 'script.py'), await script());
      const main = packagePath('dist', 'cli', 'main.js');
      const check = await timed(() =>
        run(process.execPath, [main, 'check', '--offline', 'script.py'], folder),
      );
      const node = await timed(() => run(process.execPath, ['-e', ''], folder));
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
      return {
        ratio: (check - node) / 1_000,
        details: { check: `${Math.round(check)} ms`, node: `${Math.round(node)} ms` },
      };
    },
  };
}

const example = (name: string) => readFile(packagePath('examples', 'scripts', name), 'utf8');

export const start = startRow('start', 'one file of 62 lines with a leak', () => example('leaky_scaler.py'));
export const startLong = startRow('start long', 'one file of 300 lines with a leak', async () => SCRIPT);

/** Files of the row below: as many as a folder of experiments has. */
const MANY = 500;

export const manyFiles: BenchRow = {
  name: 'many files',
  work: `\`fleet check\` on ${MANY} files of 49 lines, cold, to the last result`,
  against: 'their analysis alone, one after the other in one thread, warm',
  target: null,
  runs: 3,
  shortSeconds: null,
  run: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fleet-many-'));
    const script = await example('clean_pipeline.py');
    const texts = Array.from({ length: MANY }, (_, at) => `${script}print(${at})\n`);
    await Promise.all(texts.map((text, at) => writeFile(join(folder, `${at}.py`), text)));
    const main = packagePath('dist', 'cli', 'main.js');
    const check = await timed(() => run(process.execPath, [main, 'check', '--offline', '.'], folder));
    await analyzeLeakage(script);
    const alone = await timed(async () => {
      for (const text of texts) await analyzeLeakage(text);
    });
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    return {
      ratio: check / alone,
      details: { check: `${Math.round(check)} ms`, analysis: `${Math.round(alone)} ms` },
    };
  },
};
