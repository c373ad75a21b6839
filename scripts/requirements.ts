/**
 * Writes `docs/requirements.md`: for every requirement id the titles of the tests that prove it, read from the report
 * that the last `npm test` left. With `--check` nothing is written: it fails where an id has no passing test, or where
 * the document names a test that is gone.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { packagePath } from '../src/package-root.js';

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly title: string;
      readonly fullName: string;
      readonly status: string;
    }[];
  }[];
}

const range = (prefix: string, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${prefix}-${String(from + index).padStart(3, '0')}`);

/** Ids of the two requirement documents that want an implementation; REQ-SF-023 is informational. */
const REQUIREMENTS = [...range('REQ-SF', 11, 22), ...range('REQ-P2O', 8, 18)];

/** Acceptance criteria of SPEC-SIL-009, and the words by which its tests speak of them. */
const CRITERIA: Readonly<Record<string, RegExp>> = {
  'solution similarity detection': /similarity/,
  'fast-solve threshold detection': /fast/,
  'reasoning chain analysis detecting jumps': /jump/,
  'training set fingerprinting': /exact hash/,
  'confidence scores': /confiden/,
  'all checks combinable for a final verdict': /verdict|clean/,
};

/** What must be proven: its name in the document, and whether a test's title speaks of it. */
interface Requirement {
  readonly name: string;
  readonly isNamedIn: (title: string) => boolean;
}

const ALL: readonly Requirement[] = [
  ...REQUIREMENTS.map((id) => ({ name: id, isNamedIn: (title: string) => names(title, id) })),
  ...Object.entries(CRITERIA).map(([criterion, words]) => ({
    name: `SPEC-SIL-009 (${criterion})`,
    isNamedIn: (title: string) => names(title, 'SPEC-SIL-009') && words.test(title),
  })),
];

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const report = JSON.parse(
  readFileSync(packagePath('node_modules', '.cache', 'tests.json'), 'utf8'),
) as Report;

/** Titles of the tests that speak of a requirement, in alphabetical order; all of them, or those that passed. */
function testsOf({ isNamedIn }: Requirement, which: 'all' | 'passed'): string[] {
  const titles = report.testResults.flatMap(({ assertionResults }) =>
    assertionResults
      .filter(({ status, title }) => (which === 'all' || status === which) && isNamedIn(title))
      .map(({ title }) => title.replace(/^[A-Z0-9, -]+(?:\s[a-z]+)?:\s*/, '')),
  );
  return [...new Set(titles)].sort();
}

function names(title: string, id: string): boolean {
  const at = title.indexOf(id);
  return at !== -1 && !/[\w]/.test(title.charAt(at + id.length));
}

const unproven = ALL.filter((requirement) => testsOf(requirement, 'passed').length === 0);
/** Titles that a row shows; a requirement that many cases prove is not made clearer by all of them. */
const MAX_TITLES = 12;
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const rows = ALL.map((requirement) => {
  // A test that was skipped for want of a tool is listed too, so that the document is the same on every machine.
  const titles = testsOf(requirement, 'all').map(cell);
  const more = titles.length > MAX_TITLES ? ['…'] : [];
  return `| ${requirement.name} | ${[...titles.slice(0, MAX_TITLES), ...more].join('<br>')} |`;
});

/** Titles in the document that no test has any more. */
function staleTitles(document: string): string[] {
  const present = new Set(ALL.flatMap((requirement) => testsOf(requirement, 'all').map(cell)));
  return document
    .split('\n')
    .filter((line) => /^\| (?:REQ|SPEC)-/.test(line))
    .flatMap((line) => line.slice(0, -2).split(' | ').slice(1).join(' | ').split('<br>'))
    .filter((title) => title !== '…' && !present.has(title));
}
const text = `# Requirements and the tests that prove them

Written by \`scripts/requirements.ts\` from a test run; CI fails where an id has no passing test.

| requirement | tests |
|---|---|
${rows.join('\n')}
`;

const path = packagePath('docs', 'requirements.md');
if (unproven.length > 0) {
  process.stderr.write(`no passing test names: ${unproven.map(({ name }) => name).join(', ')}\n`);
  process.exitCode = 1;
} else if (!values.check) {
  writeFileSync(path, text);
} else {
  const stale = staleTitles(readFileSync(path, 'utf8'));
  if (stale.length > 0) {
    process.stderr.write(
      `docs/requirements.md names tests that are gone (npm run docs:requirements): ${stale.join('; ')}\n`,
    );
    process.exitCode = 1;
  }
}
