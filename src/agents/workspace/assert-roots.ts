import { accessSync, constants, statSync } from 'node:fs';
import { ConfigurationError, messageOf } from '../../errors.js';

/**
 * Asserts that directories for workspaces are there and can be read.
 * @param field What named them.
 * @param mayBeMissing Whether they may exist on other machines only.
 * @throws ConfigurationError naming the field and the directory.
 */
export function assertWorkspaceRoots(
  roots: readonly string[],
  field: string,
  { mayBeMissing = false }: { readonly mayBeMissing?: boolean } = {},
): void {
  for (const root of roots) {
    const problem = rootProblem(root, mayBeMissing);
    if (problem === undefined) continue;
    throw new ConfigurationError(`${field}: ${JSON.stringify(root)} ${problem}`, { field });
  }
}

function rootProblem(root: string, mayBeMissing: boolean): string | undefined {
  try {
    const found = statSync(root, { throwIfNoEntry: false });
    if (found === undefined) return mayBeMissing ? undefined : 'does not exist';
    if (!found.isDirectory()) return 'is not a directory';
    accessSync(root, constants.R_OK | constants.X_OK);
    return undefined;
  } catch (thrown) {
    return `cannot be read: ${messageOf(thrown)}`;
  }
}
