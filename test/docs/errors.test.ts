import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as errors from '../../src/errors.js';
import { packagePath } from '../../src/package-root.js';

const { ERROR_TABLE } = errors;

/** Rows of the table in docs/errors.md, by code. */
function documentedRows(): Map<string, string[]> {
  const text = readFileSync(packagePath('docs', 'errors.md'), 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.map((row) => {
      const cells = row.split('|').map((cell) => cell.trim().replace(/^`([^`]+)`$/, '$1'));
      return [cells[1] ?? '', cells.slice(2, -1)];
    }),
  );
}

describe('the error table', () => {
  it('is listed in docs/errors.md, code for code and nothing else', () => {
    expect([...documentedRows().keys()].sort()).toEqual(Object.keys(ERROR_TABLE).sort());
  });

  it.each(Object.entries(ERROR_TABLE))('documents %s as it is', (code, entry) => {
    expect(documentedRows().get(code)).toEqual([
      entry.class,
      entry.retryable ? 'yes' : 'no',
      String(entry.httpStatus),
      String(entry.exitCode),
      entry.whatToDo,
    ]);
  });

  it('names only classes that are exported and are FleetErrors', () => {
    const exported: Record<string, unknown> = errors;
    for (const { class: name } of Object.values(ERROR_TABLE)) {
      const exportedClass = exported[name] as typeof errors.FleetError | undefined;
      expect(exportedClass, name).toBeTypeOf('function');
      expect(exportedClass?.prototype, name).toBeInstanceOf(errors.FleetError);
    }
  });
});
