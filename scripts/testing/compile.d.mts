export function compileTestPrograms(): Promise<string>;
export function compiledModule(target: string, path: string): string | undefined;
export function compiledUrl(target: string, path: string): URL;
