import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { messageOf } from '../errors.js';

/** Where Node.js names a line: at the head of some errors, and in the calls of a stack. */
const AT_HEAD = /^(?:file:\/\/)?(\/\S+:\d+)$/m;
const IN_CALL = /^(\/[^\s)]+:\d+):\d+\)?$/;
/** What Node.js answers to a file, or an import in it, that only a loader for TypeScript understands. */
const NEEDS_LOADER: ReadonlySet<unknown> = new Set([
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
  'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
  'ERR_MODULE_NOT_FOUND',
]);
const TYPESCRIPT = /\.[cm]?tsx?$/;
const LOADER_ADVICE =
  'it is TypeScript: name the compiled JavaScript instead, or run the command with a loader, as in NODE_OPTIONS="--import tsx"';
/** The import that failed fails again at once; a module that does something else first must not hold the message up. */
const MAX_SEARCH_MS = 10_000;

/** Why a module cannot be imported, with the line at fault where that can be found. */
export async function importProblem(url: string, thrown: unknown): Promise<string> {
  const message = messageOf(thrown);
  if (!(thrown instanceof Error)) return message;
  const { code } = thrown as NodeJS.ErrnoException;
  if (isTypeScript(url, message) && existsSync(fileURLToPath(url))) {
    if (NEEDS_LOADER.has(code) || thrown instanceof SyntaxError) return `${message} (${LOADER_ADVICE})`;
  }
  // Where an imported package is missing, the message names the file that imports it.
  if (code !== undefined) return message;
  const location = locationIn(thrown.stack ?? '') ?? (await locationOfSyntaxError(url, thrown));
  return location === undefined ? message : `${location}: ${message}`;
}

function isTypeScript(url: string, message: string): boolean {
  return TYPESCRIPT.test(url) || /Unknown file extension "\.[cm]?tsx?"/.test(message);
}

function locationIn(text: string): string | undefined {
  const [, location] = AT_HEAD.exec(text) ?? firstCall(text) ?? [];
  return location === undefined ? undefined : decodeURI(location);
}

/** The first call of a stack in a module that is no dependency. */
function firstCall(stack: string): RegExpExecArray | undefined {
  for (const line of stack.split('\n')) {
    const at = line.lastIndexOf('file:///');
    if (!/^\s+at /.test(line) || at === -1 || line.includes('/node_modules/')) continue;
    const found = IN_CALL.exec(line.slice(at + 'file://'.length));
    if (found !== null) return found;
  }
  return undefined;
}

/**
 * Node.js tells the line of a syntax error only to a process that ends with it, so another process imports the module
 * again. No code runs there: modules are compiled before the first of them is run.
 */
async function locationOfSyntaxError(url: string, thrown: Error): Promise<string | undefined> {
  if (!(thrown instanceof SyntaxError)) return undefined;
  const program = `await import(${JSON.stringify(url)})`;
  const args = [...process.execArgv, '--input-type=module', '--eval', program];
  const stderr = await promisify(execFile)(process.execPath, args, { timeout: MAX_SEARCH_MS }).then(
    () => '',
    (failed: { readonly stderr?: unknown }) => String(failed.stderr ?? ''),
  );
  return stderr.includes(thrown.message) ? locationIn(stderr) : undefined;
}
