import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ContaminationDetector,
  contentHash,
  type ReportEntry,
  renderReport,
} from '../../src/contamination/index.js';
import { HOSTILE, hasChromium, openBrowser, SharedPages, watchPage } from '../gateway/browser.js';
import { readCorpus } from './pairs/corpus.js';

const known =
  readCorpus('tuning-python-1.txt').find((each) => each.task === 'islands' && each.author === 'chen')?.text ??
  '';

async function entry(name: string, output: string): Promise<ReportEntry> {
  const detector = new ContaminationDetector();
  detector.addToTrainingSet('islands', known);
  const result = await detector.checkContamination(output, { id: 'islands', name: '', difficulty: 'easy' });
  return {
    name,
    testCaseId: 'islands',
    output,
    result,
    known: [{ testCaseId: 'islands', hash: contentHash(known), solution: known }],
  };
}

describe.skipIf(!hasChromium())('SPEC-SIL-009: the report in a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'contamination-report-'));
  const url = pathToFileURL(join(folder, 'report.html')).href;
  let browser: Browser;
  let pages: SharedPages;
  beforeAll(async () => {
    const renamed = known.replace(/\bsets\b/g, 'groups').replace(/\bgrid\b/g, 'sea');
    const entries = [
      await entry('copy.py', renamed),
      await entry(HOSTILE, `${HOSTILE}\n${'x'.repeat(5_000)}`),
    ];
    writeFileSync(join(folder, 'report.html'), renderReport(entries));
    browser = await openBrowser();
    pages = new SharedPages(browser);
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  it.each([
    { width: 1280, colorScheme: 'light' as const, sideBySide: true },
    { width: 1280, colorScheme: 'dark' as const, sideBySide: true },
    { width: 360, colorScheme: 'light' as const, sideBySide: false },
  ])(
    'SPEC-SIL-009: is readable at $width pixels, $colorScheme',
    async ({ width, colorScheme, sideBySide }) => {
      const page = await pages.page({ viewport: { width, height: 900 }, colorScheme });
      const nothingHappened = watchPage(page, url);
      await page.goto(url);
      // Expressions are strings, since they run in the page and not here.
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      const lefts = await page.evaluate(
        '[...document.querySelectorAll("details[open] pre")].map((each) => each.getBoundingClientRect().left)',
      );
      const [left, right] = lefts as [number, number];
      expect(right > left).toBe(sideBySide);
      const [background, text] = (await page.evaluate(
        '[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]',
      )) as [string, string];
      const brightness = (color: string): number =>
        (color.match(/\d+/g) ?? []).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
      expect(brightness(background) > brightness(text)).toBe(colorScheme === 'light');
      await nothingHappened();
      await pages.reset();
    },
  );

  it('SPEC-SIL-009: matching stretches have the same color on both sides', async () => {
    const page = await pages.page();
    await page.goto(url);
    const sides = (await page.evaluate(
      '[...document.querySelectorAll("details[open] pre")].map((side) => [...side.querySelectorAll("mark")].map((mark) => [mark.textContent, getComputedStyle(mark).backgroundColor]))',
    )) as [string, string][][];
    const [one = [], other = []] = sides;
    expect(one.length).toBeGreaterThan(1);
    expect(new Set(one.map(([, color]) => color)).size).toBe(one.length);
    expect(
      other.map(([text, color]) => [text.replace(/\bgroups\b/g, 'sets').replace(/\bsea\b/g, 'grid'), color]),
    ).toEqual(one);
  });
});
