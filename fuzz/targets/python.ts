import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';
import {
  doesSomething,
  introducesPlaceholder,
  neutralizeMagics,
  parsePython,
  parsesAsPython,
  replaceSpan,
  solutionLineEnding,
} from '../../src/solution/index.js';
import { physicalLines } from '../../src/solution/lines.js';
import { PYTHON } from '../inputs/kinds.js';
import { mustHold, type Target } from '../target.js';

async function hasSyntaxError(text: string): Promise<boolean> {
  const tree = await parsePython(text);
  const { hasError } = tree.rootNode;
  tree.delete();
  return hasError;
}

export const pythonSyntax: Target = {
  name: 'python-syntax',
  about: 'syntax tree, lines, notebook magics and placeholders of a script',
  generate: (source) => [source.text(PYTHON)],
  open: () => ({
    run: async ([script = '']) => {
      const tree = await parsePython(script);
      const { startIndex, endIndex, hasError } = tree.rootNode;
      tree.delete();
      mustHold(startIndex >= 0 && endIndex <= script.length, 'the tree lies within the script');
      const lines = physicalLines(script);
      mustHold((lines.at(-1)?.next ?? 0) === script.length, 'the last line ends with the script');
      const neutral = neutralizeMagics(script);
      mustHold(
        physicalLines(neutral).length === lines.length,
        'taking magics out changes no number of lines',
      );
      return [
        hasError,
        neutral,
        await doesSomething(script),
        introducesPlaceholder('', script),
        solutionLineEnding(script),
      ];
    },
  }),
};

export const pythonParse: Target = {
  name: 'python-parse',
  about: 'what the Python interpreter, or the syntax tree without it, says about a script',
  generate: (source) => [source.text(PYTHON)],
  open: () => ({
    run: async ([script = '']) => {
      const result = await parsesAsPython(script);
      if (result.ok) return result;
      mustHold(result.line >= 1 && result.column >= 1, 'positions are counted from 1');
      mustHold(result.message !== '', 'an error has a message');
      mustHold(result.line <= physicalLines(script).length + 1, 'the error lies within the script');
      return result;
    },
  }),
};

/** How many findings of a script are repaired. */
const MAX_REPAIRS = 3;

export const leakage: Target = {
  name: 'leakage',
  about: 'leakage analysis of a script, and the repair of what it finds',
  tasks: 1 + MAX_REPAIRS,
  generate: (source) => [source.text(PYTHON)],
  open: () => ({
    run: async ([script = '']) => {
      const analysis = await analyzeLeakage(script);
      for (const { start, end, codeBlock, line, endLine } of analysis.findings) {
        mustHold(start >= 0 && start < end && end <= script.length, 'a finding lies within the script');
        mustHold(script.slice(start, end) === codeBlock, 'a block is what the script has at its offsets');
        mustHold(line >= 1 && line <= endLine, 'the lines of a finding are in order');
      }
      for (const { line } of analysis.notFollowed) mustHold(line >= 1, 'lines are counted from 1');
      const parsed = !(await hasSyntaxError(script));
      const repairs = [];
      for (const { codeBlock } of analysis.findings.slice(0, MAX_REPAIRS)) {
        const repair = await repairLeak(script, codeBlock);
        repairs.push(repair);
        if (!repair.ok || !parsed) continue;
        const start = script.indexOf(repair.codeBlock);
        const end = start + repair.codeBlock.length;
        const repaired = replaceSpan(script, { start, end }, repair.replacement);
        mustHold(!(await hasSyntaxError(repaired)), 'a script that parsed parses after its repair');
      }
      return [analysis, repairs];
    },
  }),
};
