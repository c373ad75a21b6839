import {
  checkFigures,
  planRefinement,
  readAblation,
  shortenOutput,
  summarizeAblation,
} from '../../src/ablation/index.js';
import { ABLATION, PYTHON } from '../inputs/kinds.js';
import { mustHold, type Target } from '../target.js';

export const ablation: Target = {
  name: 'ablation',
  about: 'output of an ablation study: read, summarized, shortened, its figures checked, turned into plans',
  generate: (source) => [
    source.text(ABLATION),
    source.text(PYTHON),
    source.text(source.chance(0.7) ? ABLATION : PYTHON),
  ],
  open: () => ({
    run: async ([rawOutput = '', code = '', other = '']) => {
      const given = { rawOutput, ablationCode: code };
      const reading = await readAblation(given);
      for (const { impact, change } of reading.variants) {
        mustHold(Number.isFinite(impact) && Number.isFinite(change), 'every change is a number');
      }
      const summary = await summarizeAblation(given);
      mustHold(summary.trim() !== '', 'a summary says something');
      const own = checkFigures({ ...given, summary });
      const foreign = checkFigures({ ...given, summary: other });
      const plans = [];
      for (const text of [summary, other]) {
        for (const plan of await planRefinement({ solution: code, summary: text, previousBlocks: [] })) {
          mustHold(code.includes(plan.code_block), 'a planned block is a part of the script');
          plans.push(plan);
        }
      }
      const room = Math.max(0, rawOutput.length - 100);
      const shortened = shortenOutput(rawOutput, room);
      mustHold(shortened.text.length <= room || rawOutput.length <= room, 'a shortened output fits its room');
      return [reading, summary, own, foreign, plans, shortened];
    },
  }),
};
