/**
 * Writes `docs/requirements.md`: for every requirement id the number of its tests and their files, read from the report
 * of the last `npm test`. With `--check` nothing is written: it fails if an id has no passing test, has fewer tests than
 * the document says, or none in a file that the document names.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
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

interface Proof {
  readonly tests: number;
  /** Paths below the package's root, in alphabetical order. */
  readonly files: readonly string[];
}

/** The tests that name a requirement: all, or those that passed. A test that was skipped for want of a tool is one of all. */
function proofOf({ isNamedIn }: Requirement, which: 'all' | 'passed'): Proof {
  const counts = report.testResults.map(({ name, assertionResults }) => ({
    file: relative(packagePath(), name),
    tests: assertionResults.filter(
      ({ status, title }) => (which === 'all' || status === which) && isNamedIn(title),
    ).length,
  }));
  const found = counts.filter(({ tests }) => tests > 0);
  return {
    tests: found.reduce((sum, { tests }) => sum + tests, 0),
    files: found.map(({ file }) => file).sort(),
  };
}

function names(title: string, id: string): boolean {
  const at = title.indexOf(id);
  return at !== -1 && !/[\w]/.test(title.charAt(at + id.length));
}

const unproven = ALL.filter((requirement) => proofOf(requirement, 'passed').tests === 0);

function rowOf(requirement: Requirement): string {
  const { tests, files } = proofOf(requirement, 'all');
  const paths = files.map((file) => `\`${file}\``);
  return `| ${requirement.name} | ${tests} | ${paths.join(', ')} |`;
}

/** What the document says of requirements and is not so any more. */
function staleRows(document: string): string[] {
  return ALL.flatMap((requirement) => {
    const row = document.split('\n').find((line) => line.startsWith(`| ${requirement.name} | `));
    if (row === undefined) return [`${requirement.name} is not in it`];
    const { tests, files } = proofOf(requirement, 'all');
    const listed = Number(row.split(' | ')[1]);
    const gone = [...row.matchAll(/`([^`]+)`/g)]
      .map(([, file]) => file ?? '')
      .filter((file) => !files.includes(file));
    return [
      ...(tests < listed ? [`${requirement.name} has ${tests} tests, not ${listed}`] : []),
      ...gone.map((file) => `${requirement.name} has no test in ${file}`),
    ];
  });
}

const text = `# Requirements and their tests

Written by \`scripts/requirements.ts\` from a test run. CI fails if an id has no passing test, or fewer tests than here.

| requirement | tests | in |
|---|---|---|
${ALL.map(rowOf).join('\n')}
`;

const path = packagePath('docs', 'requirements.md');
if (unproven.length > 0) {
  process.stderr.write(`no passing test names: ${unproven.map(({ name }) => name).join(', ')}\n`);
  process.exitCode = 1;
} else if (!values.check) {
  writeFileSync(path, text);
} else {
  const stale = staleRows(readFileSync(path, 'utf8'));
  if (stale.length > 0) {
    process.stderr.write(
      `docs/requirements.md is out of date (npm run docs:requirements): ${stale.join('; ')}\n`,
    );
    process.exitCode = 1;
  }
}
