export function bundleThreads(dist: string, packages: string): Promise<void>;
export function bundleCommandLine(dist: string, packages: string): Promise<void>;
