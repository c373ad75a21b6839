import { type Hover, MarkupKind } from 'vscode-languageserver/node';
import { LEAK_KINDS } from '../leakage/kinds.js';
import { fenceFor } from '../solution/code-fence.js';
import { type CheckedCode, rangeOf, type ShownLeak } from './checked-code.js';
import type { ClientAbilities } from './client-abilities.js';
import type { FlowStep } from './flow-steps.js';
import type { DocumentSpan } from './open-code.js';

/** The flows that go through a position: what is shown when the pointer rests there. */
export function hoverAt(
  { leaks }: CheckedCode,
  uri: string,
  offset: number,
  { markdown }: ClientAbilities,
): Hover | null {
  const holds = ({ document, start, end }: DocumentSpan) =>
    document.uri === uri && start <= offset && offset <= end;
  const found = leaks.flatMap((shown) => {
    const step = shown.steps.find(({ at }) => holds(at));
    return step === undefined ? [] : [{ shown, step }];
  });
  const [first] = found;
  if (first === undefined) return null;
  const texts = found.map(({ shown }) => flowText(shown, markdown));
  return {
    range: rangeOf(first.step.at),
    contents: {
      kind: markdown ? MarkupKind.Markdown : MarkupKind.PlainText,
      value: texts.join(markdown ? '\n\n---\n\n' : '\n\n'),
    },
  };
}

function flowText({ leak, steps }: ShownLeak, markdown: boolean): string {
  const title = `Data leakage, ${leak.severity}: ${LEAK_KINDS[leak.kind].title}`;
  const lines = steps.map((step) => stepText(step, markdown)).join('\n');
  if (!markdown) return [title, lines, leak.whatToDo].join('\n');
  return [`**${title}**`, lines, leak.whatToDo].join('\n\n');
}

/** As in `- fit, cell 3 line 2: scaler.fit_transform(X) (learned from rows that are scored)`. */
function stepText({ name, what, at }: FlowStep, markdown: boolean): string {
  const { document, cell, start, end } = at;
  const line = `line ${document.positionAt(start).line + 1}`;
  const where = cell === undefined ? line : `cell ${cell} ${line}`;
  const [code = ''] = document.getText().slice(start, end).split(/\r?\n/, 1);
  return `- ${name}, ${where}: ${markdown ? inlineCode(code) : code} (${what})`;
}

/** Code in a line of Markdown. A blank separates backticks at its ends from the fence, and is not shown. */
function inlineCode(code: string): string {
  const fence = fenceFor(code, 1);
  return `${fence} ${code} ${fence}`;
}
