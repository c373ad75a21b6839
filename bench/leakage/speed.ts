/**
 * Time of the leakage analysis: npx tsx bench/leakage/speed.ts A script of about 300 lines, warm; then scripts of 1,000 to
 * 10,000 lines, to show how time grows with length; then the slowest of the labeled scripts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { analyzeLeakage } from '../../src/leakage/index.js';
import { labeledScripts } from '../../test/leakage/labeled-scripts.js';

const unit = (at: number): string => `
def clean_${at}(frame):
    frame = frame.copy()
    frame["ratio_${at}"] = frame["a"] / (frame["b"] + 1)
    for column in ["a", "b", "c"]:
        if frame[column].isna().any():
            frame[column] = frame[column].fillna(frame[column].median())
    return frame

raw_${at} = clean_${at}(pd.read_csv("part_${at}.csv"))
X_${at}, y_${at} = raw_${at}.drop(columns=["t"]), raw_${at}["t"]
X_tr_${at}, X_va_${at}, y_tr_${at}, y_va_${at} = train_test_split(X_${at}, y_${at}, test_size=0.2, random_state=${at})
scaler_${at} = StandardScaler().fit(X_tr_${at})
model_${at} = RandomForestClassifier(n_estimators=${100 + at}, random_state=${at})
model_${at}.fit(scaler_${at}.transform(X_tr_${at}), y_tr_${at})
score_${at} = accuracy_score(y_va_${at}, model_${at}.predict(scaler_${at}.transform(X_va_${at})))
print(f"part ${at}: {score_${at}:.4f}")
`;

const HEADER = `import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
`;

function script(lines: number): string {
  const perUnit = unit(0).split('\n').length - 1;
  return HEADER + Array.from({ length: Math.round(lines / perUnit) }, (_, at) => unit(at)).join('');
}

/** Wall-clock and processor time; on a busy machine only the second shows the cost of the analysis. */
async function time(source: string): Promise<{ ms: number; cpu: number; findings: number }> {
  const before = process.cpuUsage();
  const start = performance.now();
  const { findings } = await analyzeLeakage(source);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpu: (user + system) / 1000, findings: findings.length };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const sample = readFileSync(new URL('../../test/leakage/cases/sample.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => (JSON.parse(line) as { script: string }).script);
for (let round = 0; round < 5; round += 1) for (const text of sample) await analyzeLeakage(text);

for (const lines of [300, 1_000, 2_000, 5_000, 10_000]) {
  const source = script(lines);
  const rounds = lines <= 1_000 ? 15 : 3;
  const results = [];
  for (let round = 0; round < rounds; round += 1) results.push(await time(source));
  const [ms, cpu] = [median(results.map((result) => result.ms)), median(results.map((result) => result.cpu))];
  const text = `${String(source.split('\n').length).padStart(6)} lines: ${ms.toFixed(1).padStart(8)} ms`;
  const perLine = ((cpu / lines) * 1000).toFixed(1);
  console.log(
    `${text}, processor ${cpu.toFixed(1)} ms (medians of ${rounds}), ${perLine} ms per 1,000 lines, ${results[0]?.findings} findings`,
  );
}

const labeled = readdirSync(new URL('../../test/leakage/cases/', import.meta.url)).flatMap((file) =>
  labeledScripts(file).map(({ id, script: text }) => ({ name: `${file} ${id}`, text })),
);
const timed = [];
for (const { name, text } of labeled) {
  // The best of three: others use the machine as well.
  const cpus = [await time(text), await time(text), await time(text)].map(({ cpu }) => cpu);
  timed.push({ name, lines: text.split('\n').length, cpu: Math.min(...cpus) });
}
const total = timed.reduce((sum, { cpu }) => sum + cpu, 0);
console.log(`${timed.length} labeled scripts: processor ${total.toFixed(0)} ms; the slowest of them:`);
for (const { name, lines, cpu } of timed.toSorted((a, b) => b.cpu - a.cpu).slice(0, 10)) {
  console.log(`${String(lines).padStart(6)} lines: ${cpu.toFixed(1).padStart(8)} ms  ${name}`);
}
