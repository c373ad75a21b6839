import { ContaminationDetector, renderReport } from '../../src/contamination/index.js';
import { ContaminationResultSchema } from '../../src/queues/contamination.js';
import { CODE_OR_PROSE } from '../inputs/kinds.js';
import { AMPLIFIERS, MUTATIONS } from '../inputs/mutate.js';
import type { InputSource } from '../inputs/source.js';
import { type Input, mustHold, type Target } from '../target.js';

/** An output, a known solution (often an older form of the output), a thought and a starter. */
function generate(source: InputSource): Input {
  const output = source.text(CODE_OR_PROSE);
  let known = source.chance(0.6) ? output : source.text(CODE_OR_PROSE);
  for (let left = source.below(4); left > 0; left -= 1)
    known = source.pick(MUTATIONS)(known, source, CODE_OR_PROSE.words);
  if (source.chance(0.1)) known = source.pick(AMPLIFIERS)(known, source, []).slice(0, 65_536);
  const thought = source.chance(0.5) ? source.text(CODE_OR_PROSE) : known;
  return [output, known, thought, source.chance(0.3) ? source.text(CODE_OR_PROSE) : ''];
}

async function checked([output = '', solution = '', thought = '', starter = '']: Input) {
  const detector = new ContaminationDetector();
  await detector.loadTrainingSet([
    { testCaseId: 'task', solution },
    { testCaseId: 'other', solution: `${starter}\n${solution}` },
  ]);
  const testCase = {
    id: 'task',
    name: thought.slice(0, 80),
    difficulty: 'easy' as const,
    solveTime: 1_000,
    thoughtChain: [thought, thought.slice(0, 200), solution],
    starter,
  };
  return detector.checkContamination(output, testCase);
}

export const contamination: Target = {
  name: 'contamination',
  about: 'comparing an output, its thoughts and a starter with known solutions',
  generate,
  open: () => ({
    run: async (input) => {
      const [output = '', known = ''] = input;
      const result = await checked(input);
      // Redis and HTTP transport JSON, without undefined fields.
      const parsed = ContaminationResultSchema.safeParse(JSON.parse(JSON.stringify(result)));
      mustHold(parsed.success, `the result fits its schema: ${parsed.error?.message}`);
      for (const check of [result.checks.similarity, result.checks.containment, result.checks.evidence]) {
        if (check === undefined || !('spans' in check)) continue;
        for (const {
          output: [from, to],
          known: [knownFrom, knownTo],
        } of check.spans) {
          mustHold(from <= to && to <= output.length, 'a span lies within the output');
          mustHold(knownFrom <= knownTo && knownTo <= known.length, 'a span lies within the known solution');
        }
      }
      return result;
    },
  }),
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in the page
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/u;
/** Tags of the page; any other comes from an unescaped text. */
const FOREIGN_TAG =
  /<(?!\/?(?:!doctype|html|head|meta|title|style|body|h[1-6]|p|table|thead|tbody|tr|t[hd]|caption|section|article|div|span|pre|code|mark|a|ul|ol|li|details|summary|dl|dt|dd|b|strong|em|small|header|footer|main|nav|figure|figcaption|colgroup|col|br)\b)/i;

export const contaminationReport: Target = {
  name: 'contamination-report',
  about: 'the HTML page of a check of hostile texts',
  generate,
  open: () => ({
    run: async (input) => {
      const [output = '', solution = '', name = ''] = input;
      const result = await checked(input);
      const known = Object.values(result.checks).flatMap((check) =>
        typeof check === 'object' && check !== null && 'known' in check && check.known !== undefined
          ? [{ ...check.known, solution }]
          : [],
      );
      const page = renderReport([{ name, testCaseId: name, output, result, known }]);
      mustHold(!CONTROLS.test(page), 'the page has no control characters');
      mustHold(!FOREIGN_TAG.test(page), 'the page has only tags of its own');
      return page.length;
    },
  }),
};
