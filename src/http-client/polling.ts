/** Longest time that one request waits, in milliseconds; longer waits are several requests. */
export const MAX_POLL_MS = 30_000;
