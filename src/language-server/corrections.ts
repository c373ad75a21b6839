import { type CodeAction, CodeActionKind, type Range, type WorkspaceEdit } from 'vscode-languageserver/node';
import { LEAK_KINDS } from '../leakage/kinds.js';
import type { ProvenRewrite } from '../processors/leakage-check/prove-rewrite.js';
import { type CheckedCode, rangeOf, type ShownLeak } from './checked-code.js';
import type { ClientAbilities } from './client-abilities.js';
import type { OpenCode, Replacement } from './open-code.js';

/** The leaks that are shown in a part of a document. */
export function leaksIn({ leaks }: CheckedCode, uri: string, range: Range): readonly ShownLeak[] {
  return leaks.filter(({ at }) => {
    const [from, to] = [at.document.offsetAt(range.start), at.document.offsetAt(range.end)];
    return at.document.uri === uri && at.start <= to && from <= at.end;
  });
}

/** The action that applies the correction of a leak. */
export function correctionOf(
  { leak, diagnostic }: ShownLeak,
  rewrite: ProvenRewrite,
  code: OpenCode,
  client: ClientAbilities,
): CodeAction {
  return {
    title: `Apply the correction: ${LEAK_KINDS[leak.kind].title}`,
    kind: CodeActionKind.QuickFix,
    diagnostics: [diagnostic],
    isPreferred: true,
    edit: editOf(code.replacing(rewrite, rewrite.replacement), client),
  };
}

/** With the versions that the correction was made for: an editor then refuses it if it has others. */
function editOf(replacements: readonly Replacement[], { versionedEdits }: ClientAbilities): WorkspaceEdit {
  // Each is of another document.
  const edits = replacements.map((one) => ({
    textDocument: { uri: one.document.uri, version: one.document.version },
    edits: [{ range: rangeOf(one), newText: one.text }],
  }));
  if (versionedEdits) return { documentChanges: edits };
  return {
    changes: Object.fromEntries(edits.map(({ textDocument, edits: own }) => [textDocument.uri, own])),
  };
}
