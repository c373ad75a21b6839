/**
 * Commands that run until they are stopped. Their code is not kept, since code that is loaded before it is called would take memory all
 * the time, and a start is rare; and they parse enough texts for a parser that was compiled twice.
 */
export const LONG_RUNNING: readonly string[] = ['worker', 'serve'];
