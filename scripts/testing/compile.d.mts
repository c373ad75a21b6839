export function compileTestPrograms(): Promise<string>;
export function compiledUrl(target: string, path: string): URL;
