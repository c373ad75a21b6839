/** Why a file is not read. The message is for the agent and for the log of the job. */
export class WorkspaceRefusal extends Error {}

/** The same message for a file that is missing, outside or not regular: it must reveal nothing about files outside. */
export function unreadable(): WorkspaceRefusal {
  return new WorkspaceRefusal('there is no such file in the workspace, or it is none that may be read');
}

/** Whether an error comes from the system, and is no defect of this program. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error;
}

export function rejectFileError(error: unknown): never {
  if (isFileError(error)) throw unreadable();
  throw error;
}
