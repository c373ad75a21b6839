import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  analyzeLeakage,
  LEAK_KINDS,
  type ReportedFinding,
  toGithubAnnotations,
  toSarif,
} from '../../src/leakage/index.js';
import { labelledScripts } from './labelled-scripts.js';

const [script] = labelledScripts('sample.jsonl');
const { findings } = await analyzeLeakage(script?.script ?? '');
const finding = findings[0];
if (finding === undefined) throw new Error('the sample script is expected to leak');

/** What the SARIF 2.1.0 schema demands of the parts that are used (OASIS standard, sections 3.13 to 3.30). */
const level = z.enum(['none', 'note', 'warning', 'error']);
const text = z.strictObject({ text: z.string().min(1) });
const SarifSchema = z.strictObject({
  $schema: z.url(),
  version: z.literal('2.1.0'),
  runs: z.array(
    z.strictObject({
      tool: z.strictObject({
        driver: z.strictObject({
          name: z.string().min(1),
          rules: z.array(
            z.strictObject({
              id: z.string().min(1),
              name: z.string().regex(/^\w+$/),
              shortDescription: text,
              help: text,
              defaultConfiguration: z.strictObject({ level }),
            }),
          ),
        }),
      }),
      columnKind: z.enum(['utf16CodeUnits', 'unicodeCodePoints']),
      results: z.array(
        z.strictObject({
          ruleId: z.string(),
          ruleIndex: z.int().min(0),
          level,
          message: text,
          locations: z.array(
            z.strictObject({
              physicalLocation: z.strictObject({
                artifactLocation: z.strictObject({ uri: z.string().regex(/^[^\s\\]*$/) }),
                region: z.strictObject({ startLine: z.int().min(1), endLine: z.int().min(1) }),
              }),
            }),
          ),
        }),
      ),
    }),
  ),
});

const { kind, severity, line, endLine, explanation } = finding;
const reported: ReportedFinding = { kind, severity, line, endLine, message: explanation };

describe('SARIF', () => {
  const log = toSarif([{ file: 'dir with space\\train.py', findings: [reported] }]);

  it('keeps to the shapes of SARIF 2.1.0', () => {
    expect(() => SarifSchema.parse(JSON.parse(JSON.stringify(log)))).not.toThrow();
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
