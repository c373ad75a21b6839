import { z } from 'zod';
import { suggestionFor } from '../nearest-name.js';
import { fieldPath, firstIssue } from './validate.js';

/**
 * The first problem of what a program defines, as the path of the field and a sentence. For an unknown field it names the
 * known field that was meant.
 * @param schema What refused it.
 */
export function definitionProblem(
  schema: z.ZodObject,
  error: z.ZodError,
): { readonly field: string; readonly message: string } {
  // A field that is missing often is there under a misspelled name, which says more.
  const issue = error.issues.find(({ code }) => code === 'unrecognized_keys');
  if (issue?.code !== 'unrecognized_keys') return firstIssue(error);
  const [unknown = ''] = issue.keys;
  const known = Object.keys(objectAt(schema, issue.path).shape);
  return {
    field: fieldPath([...issue.path, unknown]),
    message: `unknown field; ${suggestionFor(unknown, known)}`,
  };
}

/** The object schema of a nested field. */
function objectAt(schema: z.ZodObject, path: readonly PropertyKey[]): z.ZodObject {
  return path.reduce<z.ZodObject>((object, name) => {
    const field: unknown = object.shape[String(name)];
    const inner = field instanceof z.ZodOptional ? field.unwrap() : field;
    return inner instanceof z.ZodObject ? inner : object;
  }, schema);
}
