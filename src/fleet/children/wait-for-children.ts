/**
 * Signals the worker that the job has child jobs that have not ended: it frees its slot and runs again once they have. A
 * processor must not catch it.
 */
export class WaitForChildren extends Error {
  constructor() {
    super('the job waits for its children');
    this.name = 'WaitForChildren';
  }
}
