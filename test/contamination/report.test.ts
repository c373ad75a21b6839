import { describe, expect, it } from 'vitest';
import {
  ContaminationDetector,
  contentHash,
  type ReportEntry,
  renderReport,
} from '../../src/contamination/index.js';
import { readCorpus } from './pairs/corpus.js';

const KNOWN =
  readCorpus('tuning-python-1.txt').find((each) => each.task === 'islands' && each.author === 'chen')?.text ??
  '';

async function entry(known: string, output: string, name = 'answer.py'): Promise<ReportEntry> {
  const detector = new ContaminationDetector();
  detector.addToTrainingSet('task', known);
  const result = await detector.checkContamination(output, {
    id: 'task',
    name: '',
    difficulty: 'easy',
    solveTime: 30_000,
    thoughtChain: ['one', 'two'],
  });
  return {
    name,
    testCaseId: 'task',
    output,
    result,
    known: [{ testCaseId: 'task', hash: contentHash(known), solution: known }],
  };
}

describe('SPEC-SIL-009: the report', () => {
  it('SPEC-SIL-009: shows verdict, confidence and every check with its number and threshold', async () => {
    const page = renderReport([await entry(KNOWN, KNOWN.replace(/sets/g, 'groups'))]);
    expect(page).toMatch(/<span class="verdict contaminated">contaminated<\/span>/);
    expect(page).toMatch(/confidence 99\.\d %/);
    for (const check of [
      'similarity',
      'timing',
      'reasoning',
      'exact',
      'containment',
      'evidence',
      'fingerprint',
    ]) {
      expect(page).toMatch(
        new RegExp(`<tr><td>${check}</td><td><span class="\\w+">(?:not )?raised</span></td>`),
      );
    }
    expect(page).toContain('<tr><td>wording</td><td><span class="soft">skipped</span></td>');
    expect(page).toContain('the known solution is code');
  });

  it('SPEC-SIL-009: colors both sides of a match alike', async () => {
    const renamed = KNOWN.replace(/\bsets\b/g, 'groups');
    const page = renderReport([await entry(KNOWN, renamed)]);
    const [known, output] = [...page.matchAll(/<pre>([\s\S]*?)<\/pre>/g)].map((match) => match[1] ?? '');
    const spans = (side = ''): string[] =>
      [...side.matchAll(/<mark class="(c\d)">([\s\S]*?)<\/mark>/g)].map((match) => `${match[1]} ${match[2]}`);
    expect(spans(known).length).toBeGreaterThan(0);
    expect(spans(output)).toEqual(spans(known).map((text) => text.replace(/\bsets\b/g, 'groups')));
  });

  it('SPEC-SIL-009: shows whatever a text holds as text', async () => {
    const evil = `</pre><script>alert(1)</script><img src=x onerror="alert('1')">&amp;\u202e\u0000\ud800`;
    const page = renderReport([await entry(evil, `${evil}${evil}`, evil)]);
    expect(page).not.toMatch(/<script|<img/);
    expect(page).not.toMatch(/(?!\n)\p{Cc}|\p{Surrogate}|\u202e/u);
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).toContain('<span class="unseen">U+202E</span>');
    expect(page).toContain('<span class="unseen">U+D800</span>');
  });

  it('SPEC-SIL-009: fetches nothing and runs nothing', async () => {
    const page = renderReport([await entry(KNOWN, 'print(1)')]);
    expect(page).not.toMatch(/<script|<link|<img|@import|url\(|https?:/);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).toContain('prefers-color-scheme: dark');
  });

  it('SPEC-SIL-009: a known solution that is not at hand is named, and none is not an error', async () => {
    const whole = await entry(KNOWN, KNOWN);
    expect(renderReport([{ ...whole, known: [] }])).toContain('no known solution to show');
    expect(renderReport([])).toContain('0 outputs, 0 contaminated.');
  });

  it('SPEC-SIL-009: a long text is cut, and the reader is told', async () => {
    const long = 'word '.repeat(60_000);
    expect(renderReport([await entry(KNOWN, long)])).toContain('100000 more characters are not shown');
  });
});
