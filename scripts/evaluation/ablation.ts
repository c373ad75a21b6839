import { readFile } from 'node:fs/promises';
import { type EvaluatedOutput, evaluateOutputs } from './ablation-outputs.js';

/** `npm run eval:ablation -- FILE.jsonl [--json]`: how often the offline summary ranks rightly. */
async function main(): Promise<void> {
  const args = process.argv.slice(2);
  const files = args.filter((arg) => !arg.startsWith('--'));
  if (files.length === 0) {
    console.error('Name at least one JSON Lines file: npm run eval:ablation -- FILE.jsonl [--json]');
    process.exitCode = 2;
    return;
  }
  const evaluated: EvaluatedOutput[] = [];
  for (const file of files) evaluated.push(...(await evaluateOutputs(await readFile(file, 'utf8'))));
  const ranked = evaluated.filter((one) => one.expectedUsable);
  const numbers = {
    outputs: evaluated.length,
    mostRight: ranked.filter((one) => one.mostRight).length,
    leastRight: ranked.filter((one) => one.leastRight).length,
    ranked: ranked.length,
    usableRight: evaluated.filter((one) => one.usableRight).length,
    wrong: evaluated.filter((one) => !(one.mostRight && one.leastRight && one.usableRight)),
  };
  if (args.includes('--json')) {
    console.log(JSON.stringify(numbers, undefined, 2));
    return;
  }
  console.log(`outputs                ${numbers.outputs}`);
  console.log(`most impactful right   ${numbers.mostRight} of ${numbers.ranked}`);
  console.log(`least impactful right  ${numbers.leastRight} of ${numbers.ranked}`);
  console.log(`usable right           ${numbers.usableRight} of ${numbers.outputs}`);
  for (const one of numbers.wrong) {
    console.log(
      `\n${one.id}: expected most ${one.expectedMost.join('|')}, least ${one.expectedLeast.join('|')}, usable ${one.expectedUsable}`,
    );
    console.log(one.summary.replace(/^/gm, '  '));
  }
}

await main();
