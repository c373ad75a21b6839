import { z } from 'zod';
import { editsInCells, inCells, type JoinedCells } from '../../leakage/notebook.js';
import type { Finding, SolutionCheckResult } from '../../queues/solution-check.js';
import { scriptOf } from '../arguments.js';
import { doJob, jobFields } from '../jobs.js';
import { pageField, pageFields, pageOf } from '../page.js';
import { tool } from '../tool.js';

const LeakSchema = z.object({
  kind: z.string().optional(),
  severity: z.string().optional(),
  outcome: z.string(),
  line: z.number().optional(),
  old: z.string().optional(),
  new: z.string().optional(),
  why: z.string().optional(),
});

/** What became of each leak, as edits. */
const correctionFields = {
  status: z.string().optional(),
  leaks: z.array(LeakSchema),
  ...pageFields,
  notAnalyzed: z.string().optional(),
  cells: z
    .array(z.object({ cell: z.number(), source: z.string() }))
    .optional()
    .describe('Of a notebook: the changed cells'),
  script: z.string().optional(),
};

export const correctLeakage = tool({
  name: 'correct_leakage',
  description:
    'Finds leakage and returns edits: replace each `old` (from `line`) by `new`, in their order; of a notebook, set each of `cells` to its `source`. Writes no file. A leak without a certain rewrite stays `uncorrected`, with the reason.',
  input: z.strictObject({
    script: z.string().optional().describe('Text of the script'),
    scriptFile: z.string().optional().describe('Or its path'),
    agents: z.boolean().default(false).describe("Let the fleet's agents check and correct; costs money"),
    wholeScript: z.boolean().default(false).describe('Also return the corrected script'),
    page: pageField,
  }),
  fileFields: ['scriptFile'],
  output: z.object({ ...correctionFields, ...jobFields }),
  role: 'submit',
  submits: true,
  handle: async ({ script, scriptFile, agents, wholeScript, page }, call) => {
    const names = { text: 'script', file: 'scriptFile' };
    const { content, notebook } = await scriptOf({ text: script, file: scriptFile }, names, call);
    const solution = { content };
    if (!agents) {
      const result = await (await call.host.analysis()).check({ solution }, call.signal);
      return correctionOf(result, notebook ?? content, page, wholeScript);
    }
    const done = await doJob('solution-check', { solution }, call);
    if ('job' in done) return { leaks: [], total: 0, ...done.job };
    return correctionOf(done.result, notebook ?? content, page, wholeScript);
  },
});

/**
 * A check's result as edits.
 * @param original The script that was checked, if it is known: edits then have their lines. A notebook has no text in which an edit of
 *   its joined cells could be found, so that its changed cells are returned instead.
 */
export function correctionOf(
  { status, findings, notAnalyzed, solution }: SolutionCheckResult,
  original: string | JoinedCells | undefined,
  page: number,
  wholeScript: boolean,
) {
  const leaks = findings.filter(({ leakageStatus }) => leakageStatus === 'Yes Data Leakage');
  const notebook = typeof original === 'object' ? original : undefined;
  let current = typeof original === 'object' ? undefined : original;
  const entries = leaks.map((finding) => {
    if (notebook !== undefined) return entryInNotebook(finding, notebook);
    const entry = entryOf(finding, current);
    current = corrected(finding, current);
    return entry;
  });
  const { shown, ...pages } = pageOf(entries, page);
  return {
    status,
    leaks: shown,
    ...pages,
    ...(notAnalyzed === undefined ? {} : { notAnalyzed }),
    ...(notebook === undefined ? {} : { cells: changedCells(notebook, solution.content) }),
    ...(wholeScript ? { script: solution.content } : {}),
  };
}

function entryInNotebook({ kind, severity, outcome, reason }: Finding, notebook: JoinedCells) {
  return { kind, severity, outcome, why: reason && inCells(reason, notebook) };
}

/** The cells that are others in the corrected source, as they are there. */
function changedCells(notebook: JoinedCells, corrected: string) {
  const { source, cells } = notebook;
  return editsInCells(notebook, { start: 0, end: source.length }, corrected).map(
    ({ cell: at, start, end, text }) => {
      const cell = cells.find((one) => one.cell === at);
      const code = source.slice(cell?.start, cell?.end);
      return { cell: at, source: code.slice(0, start) + text + code.slice(end) };
    },
  );
}

function entryOf(
  { kind, severity, outcome, codeBlock, correctedBlock, correctedAt, reason }: Finding,
  current: string | undefined,
): z.output<typeof LeakSchema> {
  const line =
    current === undefined || correctedAt === undefined
      ? undefined
      : current.slice(0, correctedAt).split('\n').length;
  return {
    kind,
    severity,
    outcome,
    ...(correctedBlock === undefined ? {} : { line, old: codeBlock, new: correctedBlock }),
    why: reason,
  };
}

/** The script after a correction. */
function corrected(
  { codeBlock, correctedBlock, correctedAt }: Finding,
  current: string | undefined,
): string | undefined {
  if (current === undefined || correctedBlock === undefined || correctedAt === undefined) return current;
  return current.slice(0, correctedAt) + correctedBlock + current.slice(correctedAt + codeBlock.length);
}
