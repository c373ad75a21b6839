/** Why a file is not handed out. The message is for the agent, and for whoever reads the log of the job. */
export class WorkspaceRefusal extends Error {}

/** The same words for what is missing, elsewhere or no regular file: they tell nothing about files outside. */
export function unreadable(): WorkspaceRefusal {
  return new WorkspaceRefusal('there is no such file in the workspace, or it is none that may be read');
}

/** Errors of the system, as against mistakes of ours. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error;
}

export function refuseFileError(error: unknown): never {
  if (isFileError(error)) throw unreadable();
  throw error;
}
