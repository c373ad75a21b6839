import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  analyzeLeakage,
  LEAK_KINDS,
  REPORTED_KINDS,
  type ReportedFinding,
  toGithubAnnotations,
  toSarif,
} from '../../src/leakage/index.js';
import type { ReportedKind } from '../../src/leakage/report/reported-file.js';
import { packagePath } from '../../src/package-root.js';
import { labeledScripts } from './labeled-scripts.js';

const [script] = labeledScripts('sample.jsonl');
const { findings } = await analyzeLeakage(script?.script ?? '');
const finding = findings[0];
if (finding === undefined) throw new Error('the sample script is expected to leak');

/**
 * The published schema of SARIF 2.1.0. Of JSON Schema draft 4 it uses nothing that draft 7 reads otherwise, except for
 * the `id` and `$schema` at its top.
 */
function sarifValidator(): ValidateFunction {
  const file = packagePath('node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json');
  const {
    id: _id,
    $schema: _draft,
    ...schema
  } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
  (addFormatsModule as unknown as (ajv: Ajv) => void)(ajv);
  return ajv.compile(schema);
}
const validSarif = sarifValidator();

/** What the schema finds wrong with a log as it is written, one line an error. */
function sarifErrors(log: unknown): string[] {
  validSarif(JSON.parse(JSON.stringify(log)));
  return (validSarif.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const { kind, severity, line, endLine, explanation } = finding;
const reported: ReportedFinding = { kind, severity, line, endLine, message: explanation };

describe('SARIF', () => {
  const log = toSarif([{ file: 'dir with space\\train.py', findings: [reported] }]);

  it('is valid by the schema of SARIF 2.1.0', () => {
    expect(sarifErrors(log)).toEqual([]);
    expect(sarifErrors(toSarif([]))).toEqual([]);
  });

  it('is valid with findings of every kind, in files of any name, with any message', () => {
    const kinds = fc.constantFrom(...(Object.keys(REPORTED_KINDS) as ReportedKind[]));
    const anyText = fc.string({ unit: 'binary', minLength: 1 });
    const found = fc
      .record({
        kind: kinds,
        severity: fc.constantFrom('high' as const, 'medium' as const, 'low' as const),
        line: fc.integer({ min: 1, max: 10_000 }),
        length: fc.nat(100),
        message: anyText,
      })
      .map(({ length, ...rest }): ReportedFinding => ({ ...rest, endLine: rest.line + length }));
    fc.assert(
      fc.property(fc.array(fc.record({ file: anyText, findings: fc.array(found) })), (files) => {
        expect(sarifErrors(toSarif(files))).toEqual([]);
      }),
    );
  });

  it('would be refused by the schema without a message, with line 0 or with a key of our own', () => {
    const broken = JSON.stringify(log)
      .replace(/"message":\{"text":"(?:[^"\\]|\\.)*"\}/, '"note":"x"')
      .replace(/"startLine":\d+/, '"startLine":0');
    expect(sarifErrors(JSON.parse(broken))).toEqual(
      expect.arrayContaining([
        "/runs/0/results/0 must have required property 'message'",
        '/runs/0/results/0 must NOT have additional properties',
        '/runs/0/results/0/locations/0/physicalLocation/region/startLine must be >= 1',
      ]),
    );
  });

  it('names rule, place and level of each finding', () => {
    const [run] = log.runs;
    const result = run?.results[0];
    expect(run?.tool.driver.rules).toHaveLength(Object.keys(LEAK_KINDS).length + 1);
    expect(run?.tool.driver.rules[result?.ruleIndex ?? -1]?.id).toBe(result?.ruleId);
    expect(result?.level).toBe('note');
    expect(result?.locations[0]?.physicalLocation).toEqual({
      artifactLocation: { uri: 'dir%20with%20space/train.py' },
      region: { startLine: finding.line, endLine: finding.endLine },
    });
  });

  it('has no result for clean files', () => {
    expect(toSarif([{ file: 'a.py', findings: [] }]).runs[0]?.results).toEqual([]);
  });
});

describe('GitHub annotations', () => {
  it('are one workflow command a finding', () => {
    const [line = '', rest] = toGithubAnnotations([{ file: 'src/a.py', findings: [reported] }]).split('\n');
    expect(line).toMatch(/^::notice file=src\/a\.py,line=13,endLine=16,title=Data leakage%3A /);
    expect(rest).toBe('');
  });

  it('escape what would end a property, a message or a line', () => {
    const output = toGithubAnnotations([
      {
        file: 'a,b:c%.py',
        findings: [{ ...reported, severity: 'high', message: 'one\ntwo\r 100 %' }],
      },
    ]);
    expect(output).toContain('::error file=a%2Cb%3Ac%25.py,');
    expect(output).toContain('::one%0Atwo%0D 100 %25\n');
  });
});
