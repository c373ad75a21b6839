/** Which directories a process lets agents read in, and what in them. */
export interface WorkspacePolicy {
  /** A workspace must be one of these directories, or lie below one. `any`: whoever names it is trusted. */
  readonly roots: readonly string[] | 'any';
  /** Whether files whose names say that they hold secrets may be read as well. */
  readonly allowSecrets?: boolean;
}

/** What a worker allows that was given no roots. */
export const NO_WORKSPACES: WorkspacePolicy = { roots: [] };

/** What a program allows that names the workspace itself. */
export const ANY_WORKSPACE: WorkspacePolicy = { roots: 'any' };
