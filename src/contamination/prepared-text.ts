import { type Program, readProgram } from './code/program.js';
import type { CodeLanguage } from './code/token.js';
import { readWords, type Words } from './prose/words.js';
import { codeView, type TextKind, textKind } from './text/language.js';
import { type VisibleText, visibleText } from './text/visible-text.js';
import type { SpanPair } from './types.js';

/** A text with what the checks read in it, each part worked out when first asked for. */
export class PreparedText {
  #seen: VisibleText | undefined;
  #kindOfText: TextKind | undefined;
  readonly #programs = new Map<CodeLanguage, Program>();
  #viewed: { readonly text: string; readonly language: CodeLanguage } | undefined;
  #readWordsOnce: Words | undefined;

  constructor(readonly original: string) {}

  get visible(): VisibleText {
    this.#seen ??= visibleText(this.original);
    return this.#seen;
  }

  /** What the text is taken for when it is the known one: prose, or code of the language its lines are in. */
  get kind(): TextKind {
    if (this.#kindOfText === undefined) {
      const { text } = this.visible;
      const kind = textKind(text);
      const hasFence = text.includes('```') || text.includes('~~~');
      this.#kindOfText =
        kind === 'prose' && hasFence && codeIsMost(this.view.text, text) ? this.view.language : kind;
    }
    return this.#kindOfText;
  }

  /** Code at its offsets, all else blanked, with the language it seems to be in. */
  get view(): { readonly text: string; readonly language: CodeLanguage } {
    this.#viewed ??= codeView(this.visible.text);
    return this.#viewed;
  }

  /** The code of the text, read as the given language; offsets are those of the visible text. */
  program(language: CodeLanguage): Program {
    let program = this.#programs.get(language);
    if (program === undefined) {
      program = readProgram(this.view.text, language);
      this.#programs.set(language, program);
    }
    return program;
  }

  get words(): Words {
    this.#readWordsOnce ??= readWords(this.visible.text);
    return this.#readWordsOnce;
  }
}

function codeIsMost(code: string, text: string): boolean {
  return code.replace(/\s+/g, '').length * 2 > text.replace(/\s+/g, '').length;
}

/** Spans over two visible texts as spans over the original texts, in the order of the known text. */
export function originalSpans(
  spans: readonly SpanPair[],
  output: PreparedText,
  known: PreparedText,
): SpanPair[] {
  const o = output.visible.toOriginal;
  const k = known.visible.toOriginal;
  return spans
    .map(
      (span): SpanPair => ({
        output: [o(span.output[0]), o(span.output[1] - 1) + 1],
        known: [k(span.known[0]), k(span.known[1] - 1) + 1],
      }),
    )
    .sort((a, b) => a.known[0] - b.known[0] || a.output[0] - b.output[0]);
}
