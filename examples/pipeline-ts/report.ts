import type { Finding } from '../../src/index.js';
import type { Scored, Unscored } from './evaluation.js';

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

  start({ check, score }: Scored): void {
    this.#line('');
    this.#line('first solution');
    this.#entry('check', check.status);
    this.#entry('score', score.toFixed(4));
  }

  step(step: number, steps: number): void {
    this.#line('');
    this.#line(`step ${step} of ${steps}`);
  }

  /** The sentence of the summary that names the most impactful component; else its first line. */
  impact(summary: string): void {
    const lines = summary.split('\n').filter((line) => line.trim() !== '');
    this.#entry('impact', lines.find((line) => /\bmost impact/i.test(line)) ?? lines[0] ?? '');
  }

  block(block: string, script: string): void {
    const first = script.slice(0, script.indexOf(block)).split('\n').length;
    for (const [index, line] of block.split('\n').entries()) {
      this.#line(`${index === 0 ? name('block') : name('')}${String(first + index).padStart(3)} | ${line}`);
    }
  }

  plan(plan: string): void {
    this.#entry('plan', plan);
  }

  attempt(number: number, idea: string): void {
    this.#entry(`try ${number}`, idea);
  }

  /** @param before score of the best solution so far: what is not better is not kept. */
  evaluated(evaluated: Scored | Unscored, before: number): void {
    this.#entry('  check', evaluated.check?.status ?? 'failed');
    for (const finding of evaluated.check?.findings ?? []) {
      if (finding.outcome !== 'no-leakage') this.#finding(finding);
    }
    if (!('score' in evaluated)) {
      this.#entry('  score', `none: ${evaluated.reason}`);
      return;
    }
    const { score } = evaluated;
    const kept = score > before ? 'kept' : 'not kept';
    this.#entry('  score', `${before.toFixed(4)} -> ${score.toFixed(4)}, ${kept}`);
  }

  nothingToDo(reason: string): void {
    this.#entry('next', reason);
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
