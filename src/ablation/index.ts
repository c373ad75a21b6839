export { findUnsupportedNumbers } from './find-unsupported-numbers.js';
export { planRefinement } from './plan-refinement.js';
export { readAblation } from './read-ablation.js';
export { shortenOutput } from './shorten-output.js';
export { summarizeAblation } from './summarize-ablation.js';
