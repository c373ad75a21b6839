export { extractCodeBlock } from './extract-code-block.js';
export { type LocatedBlock, locateBlock, validateCodeBlock } from './locate-block.js';
export { neutraliseMagics } from './notebook-magics.js';
export { type ParseResult, parsesAsPython } from './parses-as-python.js';
export { solutionLineEnding } from './physical-lines.js';
export { parsePython, type SyntaxNode, type SyntaxTree } from './python-syntax.js';
export { replaceBlock, replaceSpan } from './replace-block.js';
