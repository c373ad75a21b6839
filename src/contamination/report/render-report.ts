import { CHECKS, type CheckName, EVASION_CHECKS } from '../checks.js';
import type { ContaminationResult, KnownReference, Span, SpanPair } from '../types.js';
import { escapeSource } from './escape.js';

/** Colors that the style sheet knows. */
const COLORS = 8;
/** Characters of a text that are shown. */
const MAX_CHARACTERS = 200_000;

/** A stretch to be colored, and by which pair: both sides of a pair have the same color. */
interface ColoredSpan {
  readonly span: Span;
  readonly pair: number;
}

/** Source text with the marked spans colored; where spans overlap, the earlier one wins. */
function coloredSource(text: string, spans: readonly ColoredSpan[]): string {
  const shown = text.slice(0, MAX_CHARACTERS);
  const inOrder = [...spans].sort((a, b) => a.span[0] - b.span[0] || b.span[1] - a.span[1]);
  const parts: string[] = [];
  let at = 0;
  for (const { span, pair } of inOrder) {
    const start = Math.max(at, span[0]);
    const end = Math.min(shown.length, span[1]);
    if (end <= start) continue;
    parts.push(escapeSource(shown.slice(at, start)));
    parts.push(`<mark class="c${pair % COLORS}">${escapeSource(shown.slice(start, end))}</mark>`);
    at = end;
  }
  parts.push(escapeSource(shown.slice(at)));
  if (text.length > shown.length) {
    parts.push(`<span class="unseen">… ${text.length - shown.length} more characters are not shown</span>`);
  }
  return parts.join('');
}

/** The report's style sheet: light and dark, side by side or, on a narrow page, one below the other. */
const STYLE = `
:root { color-scheme: light dark; --page: #fff; --text: #1c1f24; --soft: #5b6270; --line: #d9dde3; --panel: #f6f7f9;
  --bad: #b3261e; --good: #1b6e3c; --odd: #fff3bf; }
@media (prefers-color-scheme: dark) { :root { --page: #15171b; --text: #e6e8eb; --soft: #9aa2af; --line: #343a44;
  --panel: #1d2026; --bad: #ff8a80; --good: #7bd88f; --odd: #5c4b00; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 90rem; padding: 1rem; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin: 0; display: inline; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; } .wide { overflow-x: auto; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: 1rem 0; padding: .6rem .8rem; }
summary { cursor: pointer; } .soft { color: var(--soft); } .reason { overflow-wrap: anywhere; } td.reason { min-width: 14rem; }
.verdict { font-weight: 600; } .contaminated { color: var(--bad); } .clean { color: var(--good); }
.sides { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .8rem; margin-top: .8rem; }
@media (max-width: 48rem) { .sides { grid-template-columns: minmax(0, 1fr); } }
pre { margin: 0; padding: .6rem; max-height: 40rem; overflow: auto; background: var(--panel); border-radius: .4rem;
  font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; direction: ltr;
  unicode-bidi: isolate; tab-size: 4; }
mark { color: inherit; border-radius: .2rem; padding: 0 .1rem; } .unseen { background: var(--odd); font-size: .85em; }
.c0 { background: #ffd8a8; } .c1 { background: #a5d8ff; } .c2 { background: #b2f2bb; } .c3 { background: #eebefa; }
.c4 { background: #ffec99; } .c5 { background: #99e9f2; } .c6 { background: #ffc9c9; } .c7 { background: #d0bfff; }
@media (prefers-color-scheme: dark) {
  .c0 { background: #70410f; } .c1 { background: #0b4a78; } .c2 { background: #17572a; } .c3 { background: #632a75; }
  .c4 { background: #665200; } .c5 { background: #0b5560; } .c6 { background: #7a2626; } .c7 { background: #44307f; } }
`;

/** One checked output for the report. */
export interface ReportEntry {
  /** What the reader knows the output by: a file, a job. */
  readonly name: string;
  readonly testCaseId: string;
  readonly output: string;
  readonly result: ContaminationResult;
  /** The known solutions that the result speaks of; one that is missing is named but not shown. */
  readonly known: readonly (KnownReference & { readonly solution: string })[];
}

/**
 * One HTML page with nothing outside it and no script: a table of verdicts, then every output with its checks
 * and, side by side, the known solution and the output with matching stretches in the same color. Whatever the
 * texts hold is shown as text.
 */
export function renderReport(entries: readonly ReportEntry[]): string {
  const copies = entries.filter(({ result }) => result.contaminated).length;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Contamination report</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Contamination report</h1>
<p>${entries.length} ${entries.length === 1 ? 'output' : 'outputs'}, ${copies} contaminated.</p>
${overview(entries)}
${entries.map(section).join('\n')}
</body>
</html>
`;
}

function overview(entries: readonly ReportEntry[]): string {
  const rows = entries.map(
    ({ name, testCaseId, result }, index) =>
      `<tr><td><a href="#entry-${index}">${escapeSource(name)}</a></td><td>${escapeSource(testCaseId)}</td><td>${statusOf(result)}</td><td class="number">${percent(result.confidence)}</td></tr>`,
  );
  return `<div class="wide"><table><thead><tr><th>Output</th><th>Test case</th><th>Verdict</th><th class="number">Confidence</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function section(entry: ReportEntry, index: number): string {
  const { name, testCaseId, result } = entry;
  const why = result.reason ?? result.note;
  const reason = why === undefined ? '' : `<p class="reason">${escapeSource(why)}</p>`;
  return `<details id="entry-${index}"${result.contaminated ? ' open' : ''}>
<summary><h2>${escapeSource(name)}</h2> <span class="soft">${escapeSource(testCaseId)}</span> ${statusOf(result)} <span class="soft">confidence ${percent(result.confidence)}</span></summary>
${reason}
${checksTable(result)}
${sides(entry)}
</details>`;
}

function statusOf({ contaminated }: ContaminationResult): string {
  return contaminated
    ? '<span class="verdict contaminated">contaminated</span>'
    : '<span class="verdict clean">clean</span>';
}

function checksTable(result: ContaminationResult): string {
  const rows = CHECKS.map((name) => checkRow(name, result));
  return `<div class="wide"><table><thead><tr><th>Check</th><th>Outcome</th><th class="number">Value</th><th class="number">Threshold</th><th>Note</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function checkRow(name: CheckName, { checks, config }: ContaminationResult): string {
  const why = checks.skipped[name];
  if (why !== undefined) return row(name, '<span class="soft">skipped</span>', '', '', why);
  switch (name) {
    case 'similarity': {
      const { similarity } = checks;
      if (similarity === undefined) return '';
      return row(
        name,
        outcome(similarity.contaminated),
        number(similarity.similarity),
        number(similarity.threshold),
        '',
      );
    }
    case 'timing': {
      const { timing } = checks;
      if (timing === undefined) return '';
      const note = `${timing.actualTime} ms of ${timing.expectedTime} ms expected`;
      return row(
        name,
        outcome(timing.contaminated),
        number(timing.ratio),
        number(config.fastSolveThreshold),
        note,
      );
    }
    case 'reasoning': {
      const { reasoning } = checks;
      if (reasoning === undefined) return '';
      const notes = [
        `${reasoning.thoughtCount} thoughts, ${reasoning.explorationDepth} exploring`,
        ...(reasoning.solutionAt === undefined
          ? []
          : [`the solution is in thought ${reasoning.solutionAt + 1}`]),
        ...reasoning.suspiciousPatterns,
      ];
      return row(name, outcome(reasoning.jumpsToSolution), '', '', notes.join('; '));
    }
    default: {
      const check = checks[name];
      if (check?.status !== 'ran') return '';
      const note = check.known === undefined ? '' : `known solution of ${check.known.testCaseId}`;
      return row(name, outcome(check.contaminated), number(check.value), number(check.threshold), note);
    }
  }
}

function row(name: CheckName, shown: string, value: string, threshold: string, note: string): string {
  return `<tr><td>${name}</td><td>${shown}</td><td class="number">${value}</td><td class="number">${threshold}</td><td class="reason">${escapeSource(note)}</td></tr>`;
}

function outcome(raised: boolean): string {
  return raised ? '<span class="contaminated">raised</span>' : '<span class="clean">not raised</span>';
}

interface Shown {
  readonly check: CheckName;
  readonly known: KnownReference;
  readonly spans: readonly SpanPair[];
}

/** The check whose stretches are shown: the one furthest over its threshold that has any. */
function telling({ checks }: ContaminationResult): Shown | undefined {
  let best: (Shown & { readonly margin: number }) | undefined;
  for (const name of EVASION_CHECKS) {
    const check = checks[name];
    if (check?.status !== 'ran' || check.known === undefined || check.spans.length === 0) continue;
    const margin = check.value / check.threshold;
    if (best === undefined || margin > best.margin)
      best = { check: name, known: check.known, spans: check.spans, margin };
  }
  return best;
}

function sides({ output, result, known }: ReportEntry): string {
  const shown = telling(result);
  const other = known.find((each) =>
    shown === undefined ? true : each.hash === shown.known.hash && each.testCaseId === shown.known.testCaseId,
  );
  const spans = other === undefined ? [] : (shown?.spans ?? []);
  const colored = (side: 'output' | 'known'): ColoredSpan[] =>
    spans.map((span, pair) => ({ span: span[side], pair }));
  const left =
    other === undefined
      ? '<p class="soft">no known solution to show</p>'
      : `<pre>${coloredSource(other.solution, colored('known'))}</pre>`;
  const title =
    shown === undefined || other === undefined ? '' : ` <span class="soft">(colored: ${shown.check})</span>`;
  return `<div class="sides"><div><p>Known solution${other === undefined ? '' : ` of ${escapeSource(other.testCaseId)}`}${title}</p>${left}</div>
<div><p>Output</p><pre>${coloredSource(output, colored('output'))}</pre></div></div>`;
}

function number(value: number): string {
  return value.toFixed(3);
}

function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(1)} %`;
}
