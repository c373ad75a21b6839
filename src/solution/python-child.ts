import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { delimiter, resolve } from 'node:path';
import { programFolders } from '../config/paths.js';
import type { InterpreterResult, NoResult } from './python-answer.js';

/**
 * Reads texts (4 bytes of length, big-endian, then UTF-8) and answers each with a line of JSON. The alarm
 * ends the child even if its parent is gone and the parser hangs; where the system has them, so do limits of memory and
 * of processor time. Memory and recursion limits of `ast.parse` say nothing about the text: Python runs some scripts
 * whose tree it cannot build.
 */
const PROGRAM = `
import ast, gc, json, signal, struct, sys
# A syntax tree holds no cycles: to look for them took a third of the time of a parse.
gc.disable()
limit, memory = int(sys.argv[1]), int(sys.argv[2])
try:
    import resource
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or most > memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
except (ImportError, OSError, ValueError):
    resource = None
def allow(seconds):
    # Processor time is counted over the whole life of the process, so that the limit moves on with each text.
    if resource is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        wanted = int(used.ru_utime + used.ru_stime) + 1 + seconds
        if most == resource.RLIM_INFINITY or wanted < most:
            resource.setrlimit(resource.RLIMIT_CPU, (wanted, most))
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)
source, sink = sys.stdin.buffer, sys.stdout
def check(text):
    try:
        ast.parse(text)
        return {"ok": True}
    except SyntaxError as error:
        return {"ok": False, "line": error.lineno, "column": error.offset, "message": error.msg}
    except ValueError as error:
        # Before 3.11.4 a zero byte is not a syntax error but this, without a position.
        before = text[:text.find("\\0")].replace("\\r\\n", "\\n").replace("\\r", "\\n")
        line, column = before.count("\\n") + 1, len(before) - before.rfind("\\n")
        return {"ok": False, "line": line, "column": column, "message": str(error)}
    except BaseException as error:
        return {"undecided": type(error).__name__}
print("ready", file=sink, flush=True)
while True:
    header = source.read(4)
    if len(header) < 4:
        break
    text = source.read(struct.unpack(">I", header)[0]).decode("utf-8", "replace")
    allow(limit)
    answer = check(text)
    if hasattr(signal, "alarm"):
        signal.alarm(0)
    print(json.dumps(answer), file=sink, flush=True)
`;

/** Address space of the child, in bytes. A text of 1 MiB takes up to 750 MB. */
const MAX_MEMORY = String(2 ** 30);

/** The interpreter gets what it needs to start, and no key of the process that starts it. */
const PASSED_ON = /^(?:PATH|HOME|TMPDIR|PYENV_\w+|LD_LIBRARY_PATH|DYLD_\w+|SYSTEMROOT|PATHEXT)$/i;

/** Nothing of the present folder decides which interpreter runs, or what it loads: a checkout may be hostile. */
function interpreterEnvironment(): NodeJS.ProcessEnv {
  const passedOn = Object.entries(process.env).filter(([name]) => PASSED_ON.test(name));
  return { ...Object.fromEntries(passedOn), PATH: programFolders().join(delimiter) };
}

function frame(text: string): Buffer {
  const body = Buffer.from(text, 'utf8');
  const header = Buffer.alloc(4);
  header.writeUInt32BE(body.length);
  return Buffer.concat([header, body]);
}

/** What reads answers is loaded with the first one: many an interpreter is started early, while other things are loaded. */
async function readAnswer(line: string): Promise<InterpreterResult | NoResult> {
  return (await import('./python-answer.js')).answerIn(line);
}

function start(interpreter: string, timeoutMs: number): ChildProcess | undefined {
  const seconds = String(Math.ceil(timeoutMs / 1000) + 1);
  // A path is the user's own choice, and is relative to where the user is; a name is looked up on the PATH.
  const program = interpreter.includes('/') ? resolve(interpreter) : interpreter;
  try {
    return spawn(program, ['-I', '-S', '-W', 'ignore', '-c', PROGRAM, seconds, MAX_MEMORY], {
      stdio: ['pipe', 'pipe', 'ignore'],
      // Version managers read files of the working directory, and loaders resolve relative entries against it.
      cwd: '/',
      env: interpreterEnvironment(),
    });
  } catch {
    // Of some errors (too long a name, a file as a folder) `spawn` tells by throwing. Those of the others come as events; either
    // way there is no interpreter, and a command that was told to use it has refused the setting.
    return undefined;
  }
}

/**
 * One Python process that parses and does nothing else: isolated mode, no site packages, no text is run.
 * It never keeps the process that started it alive. One text at a time; `PythonParser` makes the others wait.
 */
export class PythonChild {
  /** None where the system refuses the interpreter's name, so that nothing was started. */
  readonly #process: ChildProcess | undefined;
  readonly #kill = () => this.#process?.kill('SIGKILL');
  #alive = true;
  #ready = false;
  #received = '';
  #onLine: ((line: string | null) => void) | undefined;

  constructor(interpreter: string, timeoutMs: number) {
    this.#process = start(interpreter, timeoutMs);
    if (this.#process === undefined) {
      this.#alive = false;
      return;
    }
    this.#process.unref();
    for (const stream of [this.#process.stdin, this.#process.stdout]) {
      // Pipes of a child are sockets; without this they would keep the event loop alive.
      if (stream instanceof Socket) stream.unref();
      // A broken pipe is seen as the end of the process.
      stream?.on('error', () => this.#end());
    }
    this.#process.stdout?.setEncoding('utf8').on('data', (chunk: string) => this.#receive(chunk));
    this.#process.once('error', () => this.#end());
    this.#process.once('exit', () => this.#end());
    process.once('exit', this.#kill);
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Whether it ever came up: an interpreter that does not is not tried again. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Parses one text. After `timeout` and `died` the child is gone. */
  parse(text: string, timeoutMs: number): Promise<InterpreterResult | NoResult> {
    return new Promise((resolve) => {
      // This timer is all that keeps the event loop alive while an answer is awaited.
      const timer = setTimeout(() => {
        this.#onLine = undefined;
        resolve('timeout');
        this.#end();
      }, timeoutMs);
      this.#onLine = (line) => {
        clearTimeout(timer);
        this.#onLine = undefined;
        if (line === null) resolve('died');
        else readAnswer(line).then(resolve, () => resolve('undecided'));
      };
      if (this.#alive && this.#process?.stdin) this.#process.stdin.write(frame(text));
      else this.#onLine(null);
    });
  }

  #receive(chunk: string): void {
    this.#received += chunk;
    for (let at = this.#received.indexOf('\n'); at !== -1; at = this.#received.indexOf('\n')) {
      const line = this.#received.slice(0, at).trimEnd();
      this.#received = this.#received.slice(at + 1);
      if (this.#ready) this.#onLine?.(line);
      else if (line === 'ready') this.#ready = true;
      else this.#end();
    }
  }

  #end(): void {
    if (!this.#alive) return;
    this.#alive = false;
    process.removeListener('exit', this.#kill);
    this.#kill();
    this.#onLine?.(null);
  }
}
