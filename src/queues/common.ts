import { createHash } from 'node:crypto';
import { z } from 'zod';
import { nameField } from './names.js';

/**
 * Version of the contracts in this folder. A producer writes it into every payload (`v`); a worker that
 * meets a higher number leaves the job to a newer worker.
 */
export const CONTRACT_VERSION = 1;

/** A script under work; a new value is made for every change, none is edited. */
export const SolutionSchema = z.strictObject({
  content: z.string().min(1, 'the script is empty').describe('Full source code of the script.'),
});
export type Solution = z.infer<typeof SolutionSchema>;

/** Labels of a job; `run`, `step` and `parent` name its place in a pipeline run and are set by the flows. */
export const RESERVED_TAGS = ['run', 'step', 'parent'] as const;
export const TagsSchema = z
  .record(nameField(64), nameField(512, 0))
  .refine((tags) => Object.keys(tags).length <= 32, 'at most 32 tags')
  .describe('Flat labels; run, step and parent are reserved for the place in a pipeline run.');

/** Fields that every payload has. */
export const payloadBase = {
  v: z.int().positive().optional().describe('Contract version; the producer sets it.'),
  tags: TagsSchema.optional(),
};

export const modelField = nameField(200).describe('Model id; default: the configured model.');
export const workspaceField = nameField(4_096).describe('Directory below which the agent may read files.');

/** Who checked, and with what. */
export const AgentStampSchema = z.strictObject({
  runner: z.enum(['anthropic', 'offline']),
  model: z.string().optional(),
  promptDigest: z.string().optional(),
});
export type AgentStamp = z.infer<typeof AgentStampSchema>;

/** Fields that every result of an agent has besides its own. */
export const agentResultBase = {
  agent: AgentStampSchema,
  notes: z.array(z.string()).optional(),
};

/** SHA-256 (hexadecimal) of a script as UTF-8; binds an answer to the script it was given for. */
export function digestOf(content: string): string {
  return createHash('sha256').update(content, 'utf8').digest('hex');
}
