/** Commands that run until they are stopped: they parse enough texts for a parser that is compiled twice. */
export const UNTIL_STOPPED: readonly string[] = ['worker', 'serve', 'watch', 'lsp', 'mcp'];

/**
 * Those whose compiled code is not kept: code that is loaded before it is called would take memory all the time, and they are
 * rarely started.
 */
export const WITHOUT_CODE_CACHE: readonly string[] = ['worker', 'serve'];
