/** Modules of dist/, by their paths in it, that hold a bundle of other modules. */
export const THREADS: readonly string[];
export function bundleThreads(dist: string, packages: string): Promise<void>;
export function bundleCommandLine(dist: string, packages: string): Promise<void>;
