/** What a test waits for comes by itself, and late on a busy machine: the one limit of every wait, below that of a test. */
export const WAIT_LIMIT_MS = 240_000;
