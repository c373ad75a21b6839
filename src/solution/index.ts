export { doesSomething, lostNames } from './bound-names.js';
export { correctionScope } from './correction-scope.js';
export { extractCodeBlock } from './extract-code-block.js';
export { fitCorrection } from './fit-correction.js';
export { solutionLineEnding } from './lines.js';
export {
  type LocatedBlock,
  locateBlock,
  replaceBlock,
  replaceSpan,
  validateCodeBlock,
} from './locate-block.js';
export { neutralizeMagics } from './notebook-magics.js';
export { parsesAsPython } from './parses-as-python.js';
export { introducesPlaceholder } from './placeholder.js';
export { parsePython } from './python-syntax.js';
export { firstSyntaxError } from './syntax-error.js';

export { blockFromWholeScript } from './whole-script.js';
