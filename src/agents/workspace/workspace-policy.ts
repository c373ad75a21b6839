/** Which directories a process lets agents read in, and what in them. */
export interface WorkspacePolicy {
  /** A workspace must be one of these directories, or be below one. `any`: the program that names it is trusted. */
  readonly roots: readonly string[] | 'any';
  /** Whether files whose names say that they hold secrets may be read as well. */
  readonly allowSecrets?: boolean;
}

/** The policy of a worker without roots. */
export const NO_WORKSPACES: WorkspacePolicy = { roots: [] };

/** The policy of a program that names the workspace itself. */
export const ANY_WORKSPACE: WorkspacePolicy = { roots: 'any' };
