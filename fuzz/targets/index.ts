import type { Target } from '../target.js';
import { ablation, refinementPlan } from './ablation.js';
import { agentAnswer, promptFile } from './agent-answer.js';
import { cliArguments } from './arguments.js';
import { blocks, correction } from './blocks.js';
import { config } from './config.js';
import { contamination, contaminationReport } from './contamination.js';
import { httpRequests } from './http-requests.js';
import { ids } from './ids.js';
import { jsonBounds } from './json-bounds.js';
import { knownFile } from './known-file.js';
import { notebook } from './notebook.js';
import { provider } from './provider.js';
import { leakage, pythonParse, pythonSyntax } from './python.js';
import { reports } from './reports.js';
import { storedRecords } from './stored-records.js';

/** Every parser of outside text. */
export const TARGETS: readonly Target[] = [
  pythonSyntax,
  pythonParse,
  leakage,
  blocks,
  correction,
  notebook,
  ablation,
  refinementPlan,
  agentAnswer,
  promptFile,
  contamination,
  contaminationReport,
  knownFile,
  reports,
  provider,
  jsonBounds,
  ids,
  config,
  cliArguments,
  storedRecords,
  httpRequests,
];

/** @throws RangeError with the names of the targets. */
export function findTarget(name: string, targets: readonly Target[] = TARGETS): Target {
  const found = targets.find((target) => target.name === name);
  if (found !== undefined) return found;
  throw new RangeError(
    `there is no target "${name}"; the targets are ${targets.map((each) => each.name).join(', ')}`,
  );
}
