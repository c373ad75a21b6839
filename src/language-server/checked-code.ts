import { type Diagnostic, DiagnosticSeverity, type Location, type Range } from 'vscode-languageserver/node';
import type { NamedAnalysis, NamedLeak } from '../agents/analysis-answer.js';
import { LEAK_KINDS } from '../leakage/kinds.js';
import { coverageFields } from '../processors/leakage-check/coverage-fields.js';
import type { ClientAbilities } from './client-abilities.js';
import { type FlowStep, flowSteps } from './flow-steps.js';
import type { DocumentSpan, OpenCode } from './open-code.js';

/** One leak, and what the editor shows of it. */
export interface ShownLeak {
  readonly leak: NamedLeak;
  readonly steps: readonly FlowStep[];
  /** Where it is shown: where it begins. */
  readonly at: DocumentSpan;
  readonly diagnostic: Diagnostic;
}

/** What the analysis says of the code, at the version that it read. */
export interface CheckedCode {
  readonly code: OpenCode;
  readonly leaks: readonly ShownLeak[];
  /** Remarks on the check itself. */
  readonly remarks: readonly { readonly at: DocumentSpan; readonly diagnostic: Diagnostic }[];
}

const SOURCE = 'solution-fleet';

const SEVERITIES = {
  high: DiagnosticSeverity.Error,
  medium: DiagnosticSeverity.Warning,
  low: DiagnosticSeverity.Information,
} as const;

export function rangeOf({ document, start, end }: DocumentSpan): Range {
  return { start: document.positionAt(start), end: document.positionAt(end) };
}

function locationOf(at: DocumentSpan): Location {
  return { uri: at.document.uri, range: rangeOf(at) };
}

/** What the editor shows of an analysis. The documents still have to be at the version that was analyzed. */
export function checkedCode(code: OpenCode, analysis: NamedAnalysis, client: ClientAbilities): CheckedCode {
  const leaks = analysis.findings.flatMap((leak) => shownLeak(leak, code, client));
  return { code, leaks, remarks: remarksOn(code, analysis, client) };
}

/** What the editor shows of code that could not be analyzed. */
export function uncheckedCode(code: OpenCode, problem: string): CheckedCode {
  return { code, leaks: [], remarks: remarkAt(firstLineOf(code), `Not checked for leakage: ${problem}`) };
}

function shownLeak(leak: NamedLeak, code: OpenCode, client: ClientAbilities): ShownLeak[] {
  const steps = flowSteps(leak, code);
  const at = code.locate(leak.flow.fit);
  if (at === undefined) return [];
  const diagnostic: Diagnostic = {
    range: rangeOf(at),
    severity: SEVERITIES[leak.severity],
    source: SOURCE,
    code: leak.kind,
    message: `Data leakage, ${LEAK_KINDS[leak.kind].title}: ${code.asRead(leak.explanation)} ${leak.whatToDo}`,
    ...(client.relatedInformation
      ? {
          relatedInformation: steps.map(({ name, what, at }) => ({
            location: locationOf(at),
            message: `${name}: ${what}`,
          })),
        }
      : {}),
  };
  return [{ leak, steps, at, diagnostic }];
}

/** That a score could not be checked, since no finding says nothing then; and what was not followed, if that is wanted. */
function remarksOn(
  code: OpenCode,
  analysis: NamedAnalysis,
  { showNotFollowed }: ClientAbilities,
): CheckedCode['remarks'] {
  const { notAnalyzed } = coverageFields(analysis, {
    opinion: 'analysis',
    detectedBy: 'analysis',
    isPython: analysis.parsed,
  });
  // While somebody types, the code often does not parse; editors show where.
  const unchecked =
    notAnalyzed !== undefined && analysis.parsed
      ? remarkAt(firstLineOf(code), `Not checked for leakage: ${code.asRead(notAnalyzed)}`)
      : [];
  if (!showNotFollowed) return unchecked;
  const notFollowed = analysis.notFollowed.flatMap(({ line, reason }) =>
    remarkAt(code.locate(lineOf(code.source, line)), `Not followed: ${code.asRead(reason)}`),
  );
  const leftOut = code.leftOut.flatMap(({ document, magic }) =>
    remarkAt(firstLineIn(document), `Not followed: the cell is of %%${magic}, not of Python`),
  );
  return [...unchecked, ...notFollowed, ...leftOut];
}

function remarkAt(at: DocumentSpan | undefined, message: string): CheckedCode['remarks'] {
  if (at === undefined) return [];
  const severity = DiagnosticSeverity.Information;
  return [{ at, diagnostic: { range: rangeOf(at), severity, source: SOURCE, message } }];
}

function firstLineOf({ parts: [first] }: OpenCode): DocumentSpan | undefined {
  return first && firstLineIn(first.document);
}

function firstLineIn(document: DocumentSpan['document']): DocumentSpan {
  return { document, ...lineOf(document.getText(), 1) };
}

/** A line of a text without its line break. @param line counted from 1 */
function lineOf(text: string, line: number): { readonly start: number; readonly end: number } {
  let start = 0;
  for (let at = 1; at < line; at += 1) start = text.indexOf('\n', start) + 1;
  const end = text.indexOf('\n', start);
  return { start, end: (end < 0 ? text.slice(start) : text.slice(start, end)).trimEnd().length + start };
}
