import { z } from 'zod';
import { thenField } from './follow-ups/contract.js';
import { nameField } from './names.js';

/**
 * Latest version of the contracts in this folder. A producer writes into every payload (`v`) the first version that knows the
 * payload's fields (`JobKind.fieldsSince`); a worker that knows only lower ones leaves the job to a newer worker.
 */
export const CONTRACT_VERSION = 2;

/** A solution script. Values are immutable: every change makes a new one. */
export const SolutionSchema = z.strictObject({
  content: z.string().min(1, 'the script is empty').describe('Full source code of the script.'),
});
export type Solution = z.infer<typeof SolutionSchema>;

/** Labels of a job. `run`, `step` and `parent` locate it in a pipeline run; the flows set them. */
export const RESERVED_TAGS = ['run', 'step', 'parent'] as const;
/** Maximum number of tags of a job. */
export const MAX_TAGS = 32;
export const TagsSchema = z
  .record(nameField(64), nameField(512, 0))
  .refine((tags) => Object.keys(tags).length <= MAX_TAGS, `at most ${MAX_TAGS} tags`)
  .describe('Flat labels; run, step and parent are reserved: they locate the job in a pipeline run.');

/** Fields that every payload has. */
export const payloadBase = {
  v: z.int().positive().optional().describe('Contract version; the producer sets it.'),
  tags: TagsSchema.optional(),
  then: thenField.optional(),
};

/** Contract version that introduced a field of `payloadBase`, for fields that version 1 does not have. */
export const BASE_FIELDS_SINCE: Readonly<Record<string, number>> = { then: 2 };

export const modelField = nameField(200).describe('Model id; default: the configured model.');
export const workspaceField = nameField(4_096).describe('Directory below which the agent may read files.');

/** Which agent and model produced a result. */
const AgentProvenanceSchema = z.strictObject({
  runner: z.enum(['anthropic', 'openai', 'offline']),
  model: z.string().optional(),
  promptDigest: z.string().optional(),
});
export type AgentProvenance = z.infer<typeof AgentProvenanceSchema>;

/** Fields that the results of all agents have in common. */
export const agentResultBase = {
  agent: AgentProvenanceSchema,
  notes: z.array(z.string()).optional(),
};
