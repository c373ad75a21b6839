import { realpath } from 'node:fs/promises';
import { isAbsolute, normalize } from 'node:path';
import { isWithin } from '../../config/paths.js';
import { PayloadError } from '../../errors.js';
import { boundsProblem, type FollowUp } from '../../queues/follow-ups/contract.js';
import type { GatewaySettings } from '../gateway.js';

/** The fields of a payload that are restricted. */
interface Restricted {
  readonly model?: unknown;
  readonly workspace?: unknown;
  readonly then?: unknown;
}

/**
 * Checks that a payload and its follow-ups name only models that the gateway's owner listed, and workspaces below the
 * directories that the owner listed. Producers with access to Redis have no such limits.
 *
 * @param at Path of the object in the request body; '' for the body itself.
 * @throws PayloadError `model-not-allowed`, `workspace-not-allowed`.
 */
export async function assertAllowed(
  payload: object,
  at: string,
  settings: Pick<GatewaySettings, 'models' | 'workspaceRoots'>,
): Promise<void> {
  const { model, workspace, then } = payload as Restricted;
  const path = (name: string) => (at === '' ? name : `${at}.${name}`);
  if (typeof model === 'string' && !settings.models.includes(model)) {
    const field = path('model');
    throw new PayloadError(
      'model-not-allowed',
      `${field}: ${JSON.stringify(model)} is not among the models of this gateway (${settings.models.join(', ')})`,
      { field },
    );
  }
  await assertWorkspaceAllowed(workspace, path('workspace'), settings);
  // Too many follow-ups are rejected with the payload.
  if (!Array.isArray(then) || boundsProblem(then) !== undefined) return;
  for (const [index, followUp] of (then as readonly FollowUp[]).entries()) {
    const here = `${path('then')}[${index}]`;
    await assertAllowed(followUp.payload ?? {}, `${here}.payload`, settings);
    await assertAllowed({ then: followUp.then }, here, settings);
  }
}

async function assertWorkspaceAllowed(
  workspace: unknown,
  field: string,
  settings: Pick<GatewaySettings, 'workspaceRoots'>,
): Promise<void> {
  if (typeof workspace !== 'string') return;
  if (await isBelowRoot(workspace, settings.workspaceRoots ?? [])) return;
  const why =
    settings.workspaceRoots === undefined
      ? 'this gateway takes no workspaces'
      : 'is not below a workspace root';
  throw new PayloadError('workspace-not-allowed', `${field}: ${why}`, { field });
}

/**
 * Whether a directory is in one of the roots: by its name and, if it exists on this machine, by its real path, so that a
 * symbolic link cannot lead out of the root. (The worker checks real paths again.)
 */
async function isBelowRoot(directory: string, roots: readonly string[]): Promise<boolean> {
  if (!isAbsolute(directory) || directory.includes('\0')) return false;
  if (!roots.some((root) => isWithin(normalize(directory), normalize(root)))) return false;
  const real = await realPathOf(directory);
  if (real === undefined) return true;
  if (real === null) return false;
  const realRoots = await Promise.all(roots.map(async (root) => (await realPathOf(root)) ?? normalize(root)));
  return realRoots.some((root) => isWithin(real, root));
}

/**
 * The real path; undefined if this machine has no such file (the workers' machines may), null if it cannot exist: its name is
 * too long, or its links form a cycle.
 */
async function realPathOf(path: string): Promise<string | undefined | null> {
  try {
    return await realpath(path);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENAMETOOLONG' || code === 'ELOOP') return null;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return undefined;
    throw thrown;
  }
}
