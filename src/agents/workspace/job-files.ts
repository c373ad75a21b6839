import { Workspace } from './workspace.js';
import type { WorkspacePolicy } from './workspace-policy.js';
import { WorkspaceRefusal } from './workspace-refusal.js';

/** Bounds of what agents read. Every text that is handed out is sent again with each later call of its request. */
export const MAX_TURN_READS = 16;
export const MAX_REQUEST_BYTES = 512 * 1024;
export const MAX_JOB_READS = 200;
const MAX_JOB_BYTES = 2 * 1024 * 1024;

/**
 * The files that the agents of one job may read: its workspace, opened once, and how much was handed out. Close it when the
 * job has ended.
 */
export class JobFiles {
  readonly #policy: WorkspacePolicy;
  readonly #opened = new Map<string, Promise<Workspace | null>>();
  #reads = 0;
  #bytes = 0;

  constructor(policy: WorkspacePolicy) {
    this.#policy = policy;
  }

  /** The files for one request of the job; null where the workspace is no directory that may be read in. */
  async forRequest(path: string): Promise<RequestFiles | null> {
    let opening = this.#opened.get(path);
    if (opening === undefined) {
      opening = Workspace.open(path, this.#policy);
      this.#opened.set(path, opening);
    }
    const workspace = await opening;
    return workspace && new RequestFiles(workspace, this);
  }

  async close(): Promise<void> {
    const opened = [...this.#opened.values()];
    this.#opened.clear();
    for (const workspace of await Promise.all(opened)) await workspace?.close();
  }

  /** Counts a read before it is done. @throws {WorkspaceRefusal} */
  beginRead(): void {
    if (this.#reads >= MAX_JOB_READS) {
      throw new WorkspaceRefusal(`this job has read ${MAX_JOB_READS} times, which is all that it may`);
    }
    this.#reads += 1;
  }

  /** Counts what a read hands out. @throws {WorkspaceRefusal} */
  handOut(bytes: number): void {
    if (this.#bytes + bytes > MAX_JOB_BYTES) {
      throw new WorkspaceRefusal(`this job would have read more than ${MAX_JOB_BYTES} bytes`);
    }
    this.#bytes += bytes;
  }
}

/** The same files for one request, which has its own bound. */
export class RequestFiles {
  readonly #job: JobFiles;
  #bytes = 0;

  constructor(
    readonly workspace: Workspace,
    job: JobFiles,
  ) {
    this.#job = job;
  }

  /** Counts a read before it is done. @throws {WorkspaceRefusal} */
  beginRead(): void {
    if (this.#bytes >= MAX_REQUEST_BYTES) throw bytesUsedUp();
    this.#job.beginRead();
  }

  /** Counts a text as it goes over the wire. @throws {WorkspaceRefusal} */
  handOut(text: string): void {
    const bytes = Buffer.byteLength(JSON.stringify(text));
    if (this.#bytes + bytes > MAX_REQUEST_BYTES) throw bytesUsedUp();
    this.#job.handOut(bytes);
    this.#bytes += bytes;
  }
}

function bytesUsedUp(): WorkspaceRefusal {
  return new WorkspaceRefusal(`one request may read ${MAX_REQUEST_BYTES} bytes; answer with what was read`);
}
