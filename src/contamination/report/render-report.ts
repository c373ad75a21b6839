import { CHECKS, type CheckName, EVASION_CHECKS } from '../checks.js';
import type { ContaminationResult, KnownReference, SpanPair } from '../types.js';
import { escapeSource } from './escape.js';
import { type Mark, markedSource } from './marked-source.js';
import { STYLE } from './style.js';

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
      `<tr><td><a href="#entry-${index}">${escapeSource(name)}</a></td><td>${escapeSource(testCaseId)}</td><td>${verdict(result)}</td><td class="number">${percent(result.confidence)}</td></tr>`,
  );
  return `<div class="wide"><table><thead><tr><th>Output</th><th>Test case</th><th>Verdict</th><th class="number">Confidence</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function section(entry: ReportEntry, index: number): string {
  const { name, testCaseId, result } = entry;
  const reason = result.reason === undefined ? '' : `<p class="reason">${escapeSource(result.reason)}</p>`;
  return `<details id="entry-${index}"${result.contaminated ? ' open' : ''}>
<summary><h2>${escapeSource(name)}</h2> <span class="soft">${escapeSource(testCaseId)}</span> ${verdict(result)} <span class="soft">confidence ${percent(result.confidence)}</span></summary>
${reason}
${checksTable(result)}
${sides(entry)}
</details>`;
}

function verdict({ contaminated }: ContaminationResult): string {
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
  const marks = (side: 'output' | 'known'): Mark[] => spans.map((span, pair) => ({ span: span[side], pair }));
  const left =
    other === undefined
      ? '<p class="soft">no known solution to show</p>'
      : `<pre>${markedSource(other.solution, marks('known'))}</pre>`;
  const title =
    shown === undefined || other === undefined ? '' : ` <span class="soft">(colored: ${shown.check})</span>`;
  return `<div class="sides"><div><p>Known solution${other === undefined ? '' : ` of ${escapeSource(other.testCaseId)}`}${title}</p>${left}</div>
<div><p>Output</p><pre>${markedSource(output, marks('output'))}</pre></div></div>`;
}

function number(value: number): string {
  return value.toFixed(3);
}

function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(1)} %`;
}
