import type { Finding, RefinementLoopResult } from '../../src/index.js';
import type { Scored } from './evaluation.js';

const WIDTH = 72;
/** Width of the column with the names. */
const INDENT = 8;

/** What the reader of the example sees; no line of prose is longer than 72 characters. */
export class Report {
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  say(sentence: string): void {
    this.#paragraph('', sentence, 0);
  }

  start({ status, score }: Scored): void {
    this.#line('');
    this.#line('first solution');
    this.#entry('check', status);
    this.#entry('score', score.toFixed(4));
  }

  step(step: number, steps: number): void {
    this.#line('');
    this.#line(`step ${step} of ${steps}`);
  }

  /** What a refinement loop did to the best solution until then. */
  refined(result: RefinementLoopResult, before: { readonly content: string; readonly score: number }): void {
    this.#impact(result.summary);
    if (result.codeBlock === undefined) {
      this.#entry('next', result.reason ?? 'no block was chosen');
      return;
    }
    this.#block(result.codeBlock, before.content);
    this.#entry('plan', result.plan ?? '');
    if (result.rounds.length === 0) this.#entry('next', 'the stand-in coder knows no rewrite of this block');
    let best = before.score;
    for (const round of result.rounds) {
      this.#round(round, best);
      if (round.gain) best = round.score ?? best;
    }
  }

  /** The sentence of the summary that names the most impactful component; else its first line. */
  #impact(summary: string): void {
    const lines = summary.split('\n').filter((line) => line.trim() !== '');
    this.#entry('impact', lines.find((line) => /\bmost impact/i.test(line)) ?? lines[0] ?? '');
  }

  #block(block: string, script: string): void {
    const first = script.slice(0, script.indexOf(block)).split('\n').length;
    for (const [index, line] of block.split('\n').entries()) {
      this.#line(`${index === 0 ? name('block') : name('')}${String(first + index).padStart(3)} | ${line}`);
    }
  }

  /** @param before score of the best solution until then: what is not better is not kept. */
  #round(round: RefinementLoopResult['rounds'][number], before: number): void {
    this.#entry(`try ${round.round}`, round.plan);
    this.#entry('  check', round.check ?? 'failed');
    for (const finding of round.findings ?? []) this.#finding(finding);
    if (round.score === undefined) {
      const reason = round.reason?.replace(`evaluation job ${round.jobs.evaluation}`, 'its evaluation');
      this.#entry('  score', `none: ${reason}`);
      return;
    }
    const kept = round.gain ? 'kept' : 'not kept';
    this.#entry('  score', `${before.toFixed(4)} -> ${round.score.toFixed(4)}, ${kept}`);
  }

  end(first: number, last: number): void {
    this.#line('');
    this.#line(`score   ${first.toFixed(4)} -> ${last.toFixed(4)}`);
  }

  #finding({ codeBlock, correctedBlock, kind, outcome }: Finding): void {
    this.#line(`${name('')}${kind ?? 'leakage'}, ${outcome}`);
    for (const line of codeBlock.split('\n')) this.#line(`${name('')}- ${line}`);
    for (const line of correctedBlock?.split('\n') ?? []) this.#line(`${name('')}+ ${line}`);
  }

  #entry(label: string, value: string): void {
    this.#paragraph(name(label), value, INDENT);
  }

  #paragraph(lead: string, value: string, indent: number): void {
    let line = lead;
    for (const word of value.split(/\s+/)) {
      if (line.length + word.length > WIDTH && line.length > indent) {
        this.#line(line.trimEnd());
        line = ' '.repeat(indent);
      }
      line += `${word} `;
    }
    this.#line(line.trimEnd());
  }

  #line(line: string): void {
    this.#write(`${line}\n`);
  }
}

function name(label: string): string {
  return label.padEnd(INDENT);
}
