import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { packagePath } from '../../package-root.js';
import type { Sandbox } from './sandbox.js';

/** Loads the modules of the program, which come with the task, and starts it. The rest of its input stays open. */
const BOOTSTRAP = `
import importlib.abc, importlib.util, json, sys
message = json.loads(sys.stdin.buffer.readline())
class Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name in message["modules"]:
            return importlib.util.spec_from_loader(name, self, is_package=name == "fleet_trial")
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        exec(compile(message["modules"][module.__name__], module.__name__, "exec"), module.__dict__)
sys.meta_path.append(Modules())
sys.path.extend(message["libraries"])
from fleet_trial.main import main
main(message["task"])
`;

/** Longest answer of the program, in bytes. A script could forge it. */
const MAX_ANSWER = 2 ** 20;
/** Longest text of its errors that is kept, in characters. */
const MAX_ERRORS = 2_000;
/** Time for starting a sandbox and loading libraries, in addition to that of the program, in milliseconds. */
const START_MS = 60_000;

export interface InsideOptions {
  /** How long the program may run once it has started, in seconds. */
  readonly seconds: number;
  readonly signal?: AbortSignal | undefined;
  /** Folders with libraries that Python does not find by itself. */
  readonly libraries?: readonly string[];
}

/**
 * Gives a task to the program in a sandbox, and returns its answer. When this function returns or throws, no process of the
 * sandbox is left. They also end with this process, however it ends.
 *
 * @returns any JSON value: a script may have forged it.
 * @throws the reason of the signal; Error that says why there is no answer.
 */
export async function runInside(
  sandbox: Sandbox,
  task: Readonly<Record<string, unknown>>,
  { seconds, signal, libraries = [] }: InsideOptions,
): Promise<unknown> {
  signal?.throwIfAborted();
  const { file, args, env } = sandbox.command(['-I', '-B', '-c', BOOTSTRAP]);
  const child = spawn(file, args, { cwd: '/', env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  const end = () => {
    // The end of its input also ends a program whose starter is no process of this group, such as a container.
    child.stdin.destroy();
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
    }
  };
  let problem: string | undefined;
  const giveUp = (why: string) => {
    problem ??= why;
    end();
  };
  const limitMs = START_MS + seconds * 1_000;
  const timer = setTimeout(() => giveUp(`no answer within ${limitMs / 1_000} s`), limitMs);
  const [answer, errors]: [Buffer[], string[]] = [[], []];
  let size = 0;
  child.stdout.on('data', (part: Buffer) => {
    size += part.length;
    if (size > MAX_ANSWER) giveUp('its answer is too long');
    else answer.push(part);
    // The answer is one line. Whatever is left in the sandbox has no use any more.
    if (part.includes(10)) end();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors.push(text);
    while (errors.length > 1 && errors.join('').length > 2 * MAX_ERRORS) errors.shift();
  });
  child.stdin.on('error', () => undefined);
  child.stdin.write(`${JSON.stringify({ modules: programModules(), libraries, task })}\n`);
  process.once('exit', end);
  signal?.addEventListener('abort', end, { once: true });
  try {
    const ended = await new Promise<string>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, by) => resolve(by === null ? `with code ${code}` : `by ${by}`));
    });
    signal?.throwIfAborted();
    if (problem !== undefined) throw new Error(problem);
    const text = Buffer.concat(answer).toString('utf8');
    if (!text.includes('\n')) throw new Error(noAnswer(ended, errors.join('')));
    return JSON.parse(text);
  } finally {
    clearTimeout(timer);
    process.removeListener('exit', end);
    signal?.removeEventListener('abort', end);
    end();
  }
}

function noAnswer(ended: string, errors: string): string {
  const said = errors.trim().slice(-MAX_ERRORS).trim().split('\n').at(-1) ?? '';
  return said === '' ? `it ended ${ended} without an answer` : said;
}

let modules: Readonly<Record<string, string>> | undefined;

/** The modules of the program, by name. */
function programModules(): Readonly<Record<string, string>> {
  if (modules !== undefined) return modules;
  const folder = packagePath('assets', 'fleet_trial');
  const files = readdirSync(folder).filter((name) => name.endsWith('.py'));
  modules = Object.fromEntries(
    files.map((name) => [
      name === '__init__.py' ? 'fleet_trial' : `fleet_trial.${name.slice(0, -'.py'.length)}`,
      readFileSync(packagePath('assets', 'fleet_trial', name), 'utf8'),
    ]),
  );
  return modules;
}
