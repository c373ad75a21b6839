import { IN_PLACE_ANALYST } from '../../src/agents/script-analyst.js';
import { CorrectedScript } from '../../src/processors/leakage-check/corrected-script.js';
import { validateCorrection } from '../../src/processors/leakage-check/validate-correction.js';
import { locateBlock, parsesAsPython, replaceBlock, validateCodeBlock } from '../../src/solution/index.js';
import { ANSWER, PYTHON } from '../inputs/kinds.js';
import { MUTATIONS } from '../inputs/mutate.js';
import type { InputSource } from '../inputs/source.js';
import { mustHold, type Target } from '../target.js';

/** A part of a script, mostly whole lines, sometimes changed a little. */
function blockOf(script: string, source: InputSource): string {
  const lines = script.split(/(?<=\n)/);
  const from = source.below(lines.length);
  const block = source.chance(0.7)
    ? lines.slice(from, from + 1 + source.below(8)).join('')
    : script.slice(source.below(script.length + 1), source.below(script.length + 1));
  if (source.chance(0.3)) return source.pick(MUTATIONS)(block, source, []);
  return source.chance(0.2) ? block.replace(/[ \t]*$/gm, '  ') : block;
}

export const blocks: Target = {
  name: 'blocks',
  about: 'locating a block in a script and replacing it',
  generate: (source) => {
    const script = source.text(PYTHON);
    return [script, source.chance(0.1) ? source.text(PYTHON) : blockOf(script, source)];
  },
  open: () => ({
    run: ([script = '', block = '']) => {
      const located = locateBlock(block, script);
      const isThere = block.trim() !== '' && script.includes(block);
      mustHold(!isThere || located?.matched === 'exact', 'a block that is in the script is found in it');
      mustHold(
        validateCodeBlock(block, { content: script }) === (block !== '' && script.includes(block)),
        'a valid block is a part of the script',
      );
      if (located === null) return null;
      const { start, end, text, occurrences } = located;
      mustHold(start >= 0 && start < end && end <= script.length, 'a located block lies within the script');
      mustHold(script.slice(start, end) === text, 'the located text is what the script has there');
      mustHold(occurrences >= 1, 'a located block is there at least once');
      const replaced = replaceBlock({ content: script }, text, '$& {{ x }}').content;
      const first = script.indexOf(text);
      mustHold(
        replaced === `${script.slice(0, first)}$& {{ x }}${script.slice(first + text.length)}`,
        'replacing puts the new text in literally and changes nothing else',
      );
      return located;
    },
  }),
};

export const correction: Target = {
  name: 'correction',
  about: "an agent's correction of a block: taken out of its answer, fitted to the script and checked",
  // Both scripts are analyzed, and then what reaches their scores is compared.
  tasks: 3,
  generate: (source) => {
    const script = source.text(PYTHON);
    const block = blockOf(script, source);
    const code = source.pick([source.text(PYTHON), source.pick(MUTATIONS)(block, source, []), block, script]);
    const answer = source.pick([code, `\`\`\`python\n${code}\n\`\`\``, source.text(ANSWER)]);
    return [script, block, answer];
  },
  open: () => ({
    run: async ([content = '', block = '', answer = '']) => {
      const script = new CorrectedScript(content);
      const located = script.locate(block);
      if (located === null) return script.whyGone(block);
      const parsedBefore = (await parsesAsPython(content)).ok;
      const checked = await validateCorrection(answer, located, script, {
        parsedBefore,
        analyst: IN_PLACE_ANALYST,
        runner: { name: 'anthropic' },
      });
      if (!checked.ok) return checked;
      const corrected = script.with(located, checked.block);
      mustHold(corrected.startsWith(content.slice(0, located.start)), 'nothing before the block is changed');
      mustHold(corrected.endsWith(content.slice(located.end)), 'nothing after the block is changed');
      if (parsedBefore)
        mustHold((await parsesAsPython(corrected)).ok, 'a script that parsed parses when corrected');
      return checked;
    },
  }),
};
