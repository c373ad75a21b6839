import {
  findUnsupportedNumbers,
  planRefinement,
  readAblation,
  shortenOutput,
  summarizeAblation,
} from '../../src/ablation/index.js';
import { ABLATION, PYTHON } from '../inputs/kinds.js';
import { mustHold, type Target } from '../target.js';

export const ablation: Target = {
  name: 'ablation',
  about: 'output of an ablation study: read, summarized, shortened, its figures checked',
  generate: (source) => [
    source.text(ABLATION),
    source.text(PYTHON),
    source.text(source.chance(0.7) ? ABLATION : PYTHON),
  ],
  open: () => ({
    run: async ([rawOutput = '', code = '', other = '']) => {
      const input = { rawOutput, ablationCode: code };
      const reading = await readAblation(input);
      for (const { impact, change } of reading.variants) {
        mustHold(Number.isFinite(impact) && Number.isFinite(change), 'every change is a number');
      }
      const summary = await summarizeAblation(input);
      mustHold(summary.trim() !== '', 'a summary says something');
      const own = findUnsupportedNumbers({ ...input, summary });
      const foreign = findUnsupportedNumbers({ ...input, summary: other });
      const room = Math.max(0, rawOutput.length - 100);
      const shortened = shortenOutput(rawOutput, room);
      mustHold(shortened.text.length <= room || rawOutput.length <= room, 'a shortened output fits its room');
      return [reading, summary, own, foreign, shortened];
    },
  }),
  // Both the reading and the summary parse the script.
  tasks: 2,
};

export const refinementPlan: Target = {
  name: 'refinement-plan',
  about: 'a script and the summary of an ablation study, turned into blocks and plans',
  generate: (source) => [source.text(PYTHON), source.text(source.chance(0.7) ? ABLATION : PYTHON)],
  open: () => ({
    run: async ([solution = '', summary = '']) => {
      const plans = await planRefinement({ solution, summary, previousBlocks: [] });
      for (const plan of plans) {
        mustHold(solution.includes(plan.code_block), 'a planned block is a part of the script');
      }
      const [first] = plans;
      if (first === undefined) return plans;
      const others = await planRefinement({ solution, summary, previousBlocks: [first.code_block] });
      mustHold(
        others.every((plan) => plan.code_block !== first.code_block),
        'a block that was refined before is not planned again',
      );
      return [plans, others];
    },
  }),
  tasks: 2,
};
