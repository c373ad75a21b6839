import { extractBlock } from './extract/extract-block.js';
import type { Processor } from './processor.js';

export const processExtract: Processor<'extract'> = extractBlock;
