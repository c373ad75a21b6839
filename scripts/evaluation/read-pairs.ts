import type { KnownSolutionInput } from '../../src/contamination/types.js';
import { messageOf } from '../../src/errors.js';
import type { LabeledPair } from './labeled-pairs.js';

/** Rows of a JSON-lines text that could be read, and what is wrong with the others (line numbers from 1). */
export interface ReadRows<Row> {
  readonly rows: Row[];
  readonly broken: { readonly line: number; readonly problem: string }[];
}

/** Labeled pairs: `id`, `kind`, `label`, `known`, `output`; further fields are left alone. */
export function readPairs(text: string): ReadRows<LabeledPair> {
  return readRows(text, (row) => ({
    id: stringField(row, 'id'),
    kind: stringField(row, 'kind'),
    label: labelField(row),
    known: stringField(row, 'known'),
    output: stringField(row, 'output'),
  }));
}

/** Known solutions: `testCaseId` and `solution`; further fields are left alone. */
export function readKnownSolutions(text: string): ReadRows<KnownSolutionInput> {
  return readRows(text, (row) => ({
    testCaseId: stringField(row, 'testCaseId'),
    solution: stringField(row, 'solution'),
  }));
}

function readRows<Row>(text: string, read: (row: Readonly<Record<string, unknown>>) => Row): ReadRows<Row> {
  const result: ReadRows<Row> = { rows: [], broken: [] };
  text.split(/\r?\n/).forEach((line, index) => {
    if (line.trim() === '') return;
    try {
      const row: unknown = JSON.parse(line);
      if (typeof row !== 'object' || row === null) throw new TypeError('expected an object');
      result.rows.push(read(row as Readonly<Record<string, unknown>>));
    } catch (error) {
      result.broken.push({ line: index + 1, problem: messageOf(error) });
    }
  });
  return result;
}

function stringField(row: Readonly<Record<string, unknown>>, name: string): string {
  const value = row[name];
  if (typeof value !== 'string' || value === '')
    throw new TypeError(`expected ${name} to be a non-empty string`);
  return value;
}

function labelField(row: Readonly<Record<string, unknown>>): LabeledPair['label'] {
  const { label } = row;
  if (label !== 'contaminated' && label !== 'clean')
    throw new TypeError('expected label to be contaminated or clean');
  return label;
}
