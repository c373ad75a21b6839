import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { messageOf, PromptError } from '../errors.js';
import type { VariableDeclaration } from './prompt-template.js';

/** `name`, `name?` (may be left out) or `name[]` (a list of texts). */
const DeclarationSchema = z
  .string()
  .regex(/^[a-z][a-z0-9_]*(\?|\[\])?$/, 'a variable is written name, name? (optional) or name[] (a list)')
  .transform((written): VariableDeclaration => {
    return {
      name: written.replace(/(?:\?|\[\])$/, ''),
      list: written.endsWith('[]'),
      optional: written.endsWith('?'),
    };
  });

const FrontMatterSchema = z.strictObject({
  agent: z.string().min(1),
  variant: z.string().min(1),
  variables: z
    .string()
    .transform((written) => (written.trim() === '' ? [] : written.split(',').map((name) => name.trim())))
    .pipe(z.array(DeclarationSchema)),
  source: z.string().min(1).describe('Figure of the paper, or requirement, that the prompt is from.'),
});
export type FrontMatter = z.infer<typeof FrontMatterSchema>;

export interface PromptFile {
  readonly frontMatter: FrontMatter | undefined;
  readonly body: string;
}

/**
 * Splits a prompt file into its front matter (lines of `key: value` between two `---`) and the template.
 *
 * @throws {PromptError} front matter that is not closed or not valid.
 */
export function parsePromptFile(path: string, content: string): PromptFile {
  return split(path, content, FrontMatterSchema);
}

function split<T>(
  path: string,
  content: string,
  schema: z.ZodType<T>,
): { readonly frontMatter: T | undefined; readonly body: string } {
  const text = content.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  if (!text.startsWith('---\n')) return { frontMatter: undefined, body: text };
  const end = text.indexOf('\n---\n');
  if (end === -1) throw fileError(path, 'its front matter has no closing ---');

  const fields = new Map<string, string>();
  for (const line of text.slice(4, end).split('\n')) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    if (colon === -1) throw fileError(path, `the line "${line}" of its front matter is not "key: value"`);
    fields.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
  }
  const parsed = schema.safeParse(Object.fromEntries(fields));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw fileError(
      path,
      `front matter, ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'does not fit'}`,
    );
  }
  return { frontMatter: parsed.data, body: text.slice(end + 5) };
}

/** A prompt of a user's own: it must list its variables, and may name its agent. */
const OwnFrontMatterSchema = FrontMatterSchema.partial({ agent: true, variant: true, source: true });

/**
 * Reads a prompt file of a user's own.
 * @throws {PromptError} front matter that is missing, not closed or not valid.
 */
export function parseOwnPromptFile(
  path: string,
  content: string,
): z.infer<typeof OwnFrontMatterSchema> & { readonly body: string } {
  const { frontMatter, body } = split(path, content, OwnFrontMatterSchema);
  if (frontMatter === undefined) throw fileError(path, 'it has no front matter with its variables');
  return { ...frontMatter, body };
}

/** @throws {PromptError} a file that cannot be read. */
export function readPromptText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new PromptError(
      'prompt-not-found',
      `The prompt file ${path} cannot be read: ${messageOf(cause)}.`,
      {
        cause,
      },
    );
  }
}

function fileError(path: string, problem: string): PromptError {
  return new PromptError('prompt-not-found', `The prompt file ${path} cannot be used: ${problem}.`);
}
