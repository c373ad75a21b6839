/**
 * Runs what the repair makes of labeled scripts, under real Python: npm run eval:repairs [-- FILE …]
 *
 * The files are those of test/leakage/cases, all of them where none is named. Each leaky script that is rewritten
 * runs as it was and as rewritten on the same small made-up tables. A rewritten script that fails, prints no score, writes
 * other rows, or predicts rows with other columns or of another scale where the original ran is wrong: exit code 1. EVAL_PYTHON names another Python. Boosting libraries that it
 * lacks are replaced by scikit-learn's, and plotting libraries by nothing; scripts that import other modules that it lacks are counted, not run.
 */
import { readdirSync } from 'node:fs';
import { neutralizeMagics } from '../../src/solution/index.js';
import { labeledScripts } from '../../test/leakage/labeled-scripts.js';
import { rewrittenScript } from '../repairs/rewritten-script.js';
import { damageOf, pythonWithSklearn, runPairs, type ScriptPair } from '../repairs/run-pairs.js';

const python = pythonWithSklearn();
const named = process.argv.slice(2);
const files =
  named.length > 0 ? named : readdirSync(new URL('../../test/leakage/cases', import.meta.url)).sort();
if (python === undefined) {
  console.error('No python3 with scikit-learn and pandas: install python3-sklearn and python3-pandas.');
  process.exitCode = 2;
} else {
  let wrong = 0;
  for (const file of files) {
    const pairs: ScriptPair[] = [];
    for (const { id, script } of labeledScripts(file).filter(({ leaky }) => leaky)) {
      const { text, kinds } = await rewrittenScript(script);
      if (text !== script)
        pairs.push({
          id,
          original: neutralizeMagics(script),
          rewritten: neutralizeMagics(text),
          choosesColumns: kinds.has('feature-selection'),
          leavesOutColumn: kinds.has('label-in-features') || kinds.has('future-values'),
          dividesOtherwise: kinds.has('group-overlap') || kinds.has('shuffled-time'),
        });
    }
    const results = await runPairs(python, pairs);
    const ran = results.filter((result) => result.ran);
    const absent = results.filter((result) => !result.ran && result.why.startsWith('ModuleNotFoundError'));
    console.log(
      `${file.padEnd(26)} rewritten ${pairs.length}, original ran ${ran.length}, module absent ${absent.length}`,
    );
    for (const result of results) {
      if (!result.ran) console.log(`  not run  ${result.id}: ${result.why.split('\n')[0]}`);
      const isOtherwise = pairs.some(({ id, dividesOtherwise }) => id === result.id && dividesOtherwise);
      const damage = result.ran ? damageOf(result, isOtherwise) : undefined;
      if (damage === undefined) continue;
      wrong += 1;
      console.log(`  WRONG    ${result.id}: ${damage}`);
    }
  }
  console.log(`${wrong} rewritten scripts are wrong.`);
  process.exitCode = wrong > 0 ? 1 : 0;
}
