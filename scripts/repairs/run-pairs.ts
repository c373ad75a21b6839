import { execFileSync, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { packagePath } from '../../src/package-root.js';

/** A script, and what the repair made of it. */
export interface ScriptPair {
  readonly id: string;
  readonly original: string;
  readonly rewritten: string;
  /** The rewrite moved a selection of columns, so a model may get others, but as many. */
  readonly choosesColumns?: boolean;
  /** The rewrite left out a feature that says what the label is. */
  readonly leavesOutColumn?: boolean;
  /** The rewrite divides the rows in another way, by time or by group: other rows are scored, and written. */
  readonly dividesOtherwise?: boolean;
}

/** A script that needs no data. */
export interface PlainScript {
  readonly id: string;
  readonly script: string;
}

const PrintedSchema = z.object({ id: z.string(), printed: z.string() });

const RunSchema = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  line: z.number().optional(),
  text: z.string().optional(),
  printed: z.string(),
  /** Name, rows and values of each file. */
  written: z.array(z.tuple([z.string(), z.number(), z.number()])),
});
const ResultSchema = z.discriminatedUnion('ran', [
  z.object({ id: z.string(), ran: z.literal(false), why: z.string() }),
  z.object({
    id: z.string(),
    ran: z.literal(true),
    original: RunSchema,
    rewritten: RunSchema,
    /** How the rows that the last model predicts differ, if they do more than a rewrite may change. */
    change: z.string().nullable(),
  }),
]);
export type PairResult = z.infer<typeof ResultSchema>;
type Run = z.infer<typeof RunSchema>;

const HAS_LIBRARIES =
  'import sys; from importlib.util import find_spec; sys.exit(not (find_spec("sklearn") and find_spec("pandas")))';

/** The first Python on this machine that has scikit-learn and pandas; Debian's own may, where another hides it. */
export function pythonWithSklearn(): string | undefined {
  return [process.env.EVAL_PYTHON ?? 'python3', '/usr/bin/python3', 'python'].find((candidate) => {
    try {
      // Loading them takes seconds.
      execFileSync(candidate, ['-c', HAS_LIBRARIES], { stdio: 'ignore', timeout: 60_000 });
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * Runs each pair on the same made-up data, one after the other, each run in a process of its own.
 *
 * @throws Error where the driver itself fails.
 */
export async function runPairs(
  python: string,
  pairs: readonly ScriptPair[],
  seconds = 60,
): Promise<PairResult[]> {
  return (await runScripts(python, [], pairs, seconds)).results;
}

/** What plain scripts print, by id, and the results of pairs: one start of scikit-learn for all of them. */
export async function runScripts(
  python: string,
  scripts: readonly PlainScript[],
  pairs: readonly ScriptPair[],
  seconds = 60,
): Promise<{ readonly outputs: ReadonlyMap<string, string>; readonly results: PairResult[] }> {
  const driver = fileURLToPath(new URL('run_pairs.py', import.meta.url));
  const child = spawn(python, [driver], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...process.env,
      SECONDS_PER_RUN: String(seconds),
      TRIAL_MODULES: packagePath('assets'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
  });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.setEncoding('utf8').on('data', (text: string) => out.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => err.push(text));
  child.stdin.end(JSON.stringify([...scripts, ...pairs]));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`the driver ended with ${code}: ${err.join('').slice(-2000)}`);
  const lines = out
    .join('')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
  const printed = lines.slice(0, scripts.length).map((line) => PrintedSchema.parse(line));
  return {
    outputs: new Map(printed.map(({ id, printed: text }) => [id, text])),
    results: lines.slice(scripts.length).map((line) => ResultSchema.parse(line)),
  };
}

/** What is wrong with a rewritten script that ran, or did not, where its original ran; nothing where all is well. */
export function damageOf(
  { original, rewritten, change }: { original: Run; rewritten: Run; change: string | null },
  dividesOtherwise = false,
): string | undefined {
  if (!rewritten.ok)
    return `${rewritten.error ?? ''} in line ${rewritten.line ?? 0}: ${rewritten.text ?? ''}`;
  if (countScores(original.printed) > countScores(rewritten.printed)) return 'it prints no score any more';
  if (dividesOtherwise) return undefined;
  if (change !== null) return `its model predicts other rows: ${change}`;
  const rows = (run: Run): string => JSON.stringify(run.written);
  if (rows(original) !== rows(rewritten))
    return `it writes ${rows(rewritten)} (name, rows, values) instead of ${rows(original)}`;
  return undefined;
}

/** Lines with a finite number in them. */
function countScores(printed: string): number {
  const last = printed.trimEnd().split('\n').at(-1) ?? '';
  return /\d/.test(last) && !/\b(nan|inf)\b/i.test(last) ? 1 : 0;
}
