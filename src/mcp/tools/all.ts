import type { Tool } from '../tool.js';
import { checkContamination } from './check-contamination.js';
import { checkLeakage } from './check-leakage.js';
import { correctLeakage } from './correct-leakage.js';
import { extractBlock } from './extract-block.js';
import { jobStatus } from './job-status.js';
import { summarizeAblation } from './summarize-ablation.js';

/** In the order in which an agent reads them. */
export const TOOLS: readonly Tool[] = [
  checkLeakage,
  correctLeakage,
  extractBlock,
  summarizeAblation,
  checkContamination,
  jobStatus,
];
