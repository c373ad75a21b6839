import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { findInterpreter, runScript } from './python-process.js';

const RECORDED_RUNS = fileURLToPath(new URL('./recorded-runs.json', import.meta.url));

/** How the example's Python is run. */
export interface ScriptRuns {
  /** One line for the reader: whether scripts really run, and with what. */
  readonly description: string;
  /** What a script prints when it is run with `input` on its standard input. */
  run(script: string, input?: string): Promise<string>;
  /** To be called at the end; writes the recording where one is made. */
  finish(): Promise<void>;
}

interface Recording {
  /** What the outputs were recorded with. */
  readonly version: string;
  /** Outputs by the digest of script and input. */
  readonly outputs: Readonly<Record<string, string>>;
}

/** `auto`: real where there is scikit-learn, else recorded. */
export type RunMode = 'auto' | 'real' | 'recorded' | 'record';

const doNothing = async () => undefined;

/** @throws Error where scikit-learn is wanted and missing. */
export async function openScriptRuns(mode: RunMode): Promise<ScriptRuns> {
  const interpreter = mode === 'recorded' ? undefined : await findInterpreter();
  if (interpreter === undefined) {
    if (mode !== 'auto' && mode !== 'recorded') {
      throw new Error('no python3 with scikit-learn was found; install it, or run with --recorded');
    }
    return recordedRuns(mode === 'auto');
  }
  const { command, version } = interpreter;
  if (mode === 'record') return recordingRuns(command, version);
  return {
    description: `Scripts run with ${version} (${command}).`,
    run: (script, input = '') => runScript(command, script, input),
    finish: doNothing,
  };
}

async function recordedRuns(forLackOfPython: boolean): Promise<ScriptRuns> {
  const recording = JSON.parse(await readFile(RECORDED_RUNS, 'utf8')) as Recording;
  const reason = forLackOfPython ? 'There is no python3 with scikit-learn here, so no' : 'No';
  return {
    description: `${reason} script is run: what each printed was recorded with ${recording.version}.`,
    run: async (script, input = '') => {
      const output = recording.outputs[digest(script, input)];
      if (output === undefined) {
        throw new Error('no output of this script was recorded; it needs a python3 with scikit-learn');
      }
      return output;
    },
    finish: doNothing,
  };
}

function recordingRuns(command: string, version: string): ScriptRuns {
  const outputs = new Map<string, string>();
  return {
    description: `Scripts run with ${version} (${command}); their outputs are recorded.`,
    run: async (script, input = '') => {
      const output = await runScript(command, script, input);
      outputs.set(digest(script, input), output);
      return output;
    },
    finish: async () => {
      const sorted = Object.fromEntries([...outputs].sort(([a], [b]) => (a < b ? -1 : 1)));
      const recording: Recording = { version, outputs: sorted };
      await writeFile(RECORDED_RUNS, `${JSON.stringify(recording, null, 2)}\n`);
    },
  };
}

/** SHA-256 of a script and its input; NUL, which no Python source holds, is between them. */
function digest(script: string, input: string): string {
  return createHash('sha256').update(`${script}\0${input}`).digest('hex');
}
