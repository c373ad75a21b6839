import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isRightBlock } from '../../scripts/evaluation/labeled-scripts.js';
import { analyzeLeakage, LEAK_KINDS, type LeakKind } from '../../src/leakage/index.js';
import { packagePath } from '../../src/package-root.js';
import { labeledScripts } from './labeled-scripts.js';

const scripts = labeledScripts('kinds.txt');
const docs = readdirSync(packagePath('docs', 'leakage-kinds'))
  .map((page) => readFileSync(packagePath('docs', 'leakage-kinds', page), 'utf8'))
  .join('\n');

describe('the kinds of leak', () => {
  it('each have a pair of scripts', () => {
    expect(scripts.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(LEAK_KINDS).toSorted());
  });

  it.each(scripts)('REQ-SF-014: $kind is found as such, once, and its twin is clean', async (script) => {
    const { findings } = await analyzeLeakage(script.script);
    expect(findings.map(({ kind }) => kind)).toEqual([script.kind]);
    const [finding] = findings;
    if (finding === undefined) throw new Error('no finding');
    expect(finding.severity).toBe(LEAK_KINDS[script.kind as LeakKind].severity);
    expect(isRightBlock(finding, script)).toBe(true);
    expect(finding.explanation).toMatch(/line \d+.*\.$/);
    expect(finding.explanation).not.toMatch(/`(.+)` is fitted on `\1`/);
    expect((await analyzeLeakage(script.fixed ?? '')).findings).toEqual([]);
  });

  it('copied rows are explained as copies', async () => {
    const copied = scripts.find(({ kind }) => kind === 'duplicated-rows');
    const [finding] = (await analyzeLeakage(copied?.script ?? '')).findings;
    expect(finding?.explanation).toMatch(/^Rows are copied at line \d+ .*copies of one row reach both parts/);
  });

  it.each(scripts)('$kind is documented with this pair and its severity', ({ kind, script, fixed }) => {
    const { severity } = LEAK_KINDS[kind as LeakKind];
    const section = docs.split(`## \`${kind}\` (${severity})`)[1]?.split('\n## ')[0] ?? '';
    expect(section).toContain(`\`\`\`python\n${script.trimEnd()}\n\`\`\``);
    expect(section).toContain(`\`\`\`python\n${(fixed ?? '').trimEnd()}\n\`\`\``);
  });
});
