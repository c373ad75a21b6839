/**
 * Not an error but a message to the worker: the job has child jobs that have not ended, so it gives its slot back and runs
 * again once they have. A processor lets it pass.
 */
export class WaitForChildren extends Error {
  constructor() {
    super('the job waits for its children');
    this.name = 'WaitForChildren';
  }
}
