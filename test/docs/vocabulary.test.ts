import { readdirSync, readFileSync } from 'node:fs';
import jsTokens from 'js-tokens';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';
import { ALLOWED, OLD_WORDS, type OldWord } from './old-words.js';

const CODE = ['src', 'test', 'bench', 'chaos', 'fuzz', 'scripts', 'examples'];
const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];
/** These name the old words. */
const LISTS = ['test/docs/old-words.ts', 'test/docs/vocabulary.test.ts', 'docs/upgrading.md'];

interface Passage {
  readonly kind: 'names' | 'prose';
  readonly text: string;
  readonly line: number;
}

interface Use {
  readonly file: string;
  readonly line: number;
  readonly found: string;
  readonly use: string;
}

/** `#statusColour` is `status colour`; an identifier in capitals ends with `constant`. */
function words(text: string): string {
  const isConstant = /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(text);
  const spaced = text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[^A-Za-z]+/g, ' ');
  return `${spaced.toLowerCase().trim()}${isConstant ? ' constant' : ''}`;
}

const oneOf = (list: readonly OldWord[]) =>
  new RegExp(`\\b(?:${list.map((word) => word.old).join('|')})\\b`, 'g');
const PATTERNS = {
  names: oneOf(OLD_WORDS.filter((word) => word.in !== 'prose')),
  prose: oneOf(OLD_WORDS.filter((word) => word.in !== 'names')),
};
const EXACT = OLD_WORDS.map((word) => ({ ...word, pattern: new RegExp(`^(?:${word.old})$`) }));

const isOldIn = (file: string, { at = '' }: OldWord) => file.startsWith(at);

/** Identifiers, comments and, in `src`, strings. Strings elsewhere are data of tests. */
function* passagesOfCode(file: string, text: string): Generator<Passage> {
  let line = 1;
  for (const token of jsTokens(text)) {
    const value = token.value;
    if (token.type === 'IdentifierName' || token.type === 'PrivateIdentifier') {
      yield { kind: 'names', text: value, line };
    } else if (
      token.type.endsWith('Comment') ||
      (file.startsWith('src/') && /String|Template/.test(token.type))
    ) {
      yield { kind: 'prose', text: value, line };
    }
    if (value.includes('\n')) line += value.split('\n').length - 1;
  }
}

function* passagesOfPage(text: string): Generator<Passage> {
  const withoutScripts = text.replace(/^```python\n.*?^```/gms, (script) => script.replace(/[^\n]/g, ''));
  // A sentence may go on in the next line.
  const paragraphs = withoutScripts.split('\n\n');
  let line = 1;
  for (const paragraph of paragraphs) {
    yield { kind: 'prose', text: paragraph, line };
    line += paragraph.split('\n').length + 1;
  }
}

const ANY = new RegExp(`${PATTERNS.names.source}|${PATTERNS.prose.source}`);

function oldWordsIn(file: string, text: string): Use[] {
  // Most files have none, and this is quicker than to read them token by token.
  if (!ANY.test(words(text).replace(/ constant$/, '')) && !/\b[A-Z]+ST_/.test(text)) return [];
  const passages = file.endsWith('.md') ? passagesOfPage(text) : passagesOfCode(file, text);
  return [...passages].flatMap(({ kind, text: passage, line }) =>
    uses(kind, passage).flatMap(([found, words]) => {
      const word = words.find((each) => isOldIn(file, each));
      return word === undefined ? [] : [{ file, line, found, use: word.use }];
    }),
  );
}

type Found = readonly (readonly [found: string, meant: readonly OldWord[]])[];

/** What was found in names: most are those of other files too. */
const inNames = new Map<string, Found>();

/** Texts of a passage that look like old words, and the old words that each may be. */
function uses(kind: Passage['kind'], passage: string): Found {
  const known = kind === 'names' ? inNames.get(passage) : undefined;
  if (known !== undefined) return known;
  const found = [...words(passage).matchAll(PATTERNS[kind])].map(([found]) => {
    const meant = EXACT.filter((each) => (each.in ?? kind) === kind && each.pattern.test(found));
    return [found, meant] as const;
  });
  if (kind === 'names') inNames.set(passage, found);
  return found;
}

const isAllowed = (use: Use) =>
  ALLOWED.some(({ at, found }) => use.file.startsWith(at) && use.found === found);

function filesToRead(): string[] {
  const below = (folder: string, ending: RegExp) =>
    readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8' })
      // Other tests write files of a moment into hidden folders.
      .filter((file) => ending.test(file) && !/(^|\/)\./.test(file))
      .map((file) => `${folder}/${file}`);
  return [
    ...CODE.flatMap((folder) => below(folder, /\.m?ts$|\.mjs$/)),
    ...below('docs', /\.md$/),
    ...PAGES,
  ].filter((file) => !LISTS.includes(file));
}

const found = filesToRead().flatMap((file) => oldWordsIn(file, readFileSync(packagePath(file), 'utf8')));

describe('the vocabulary', () => {
  it('has no old word in names, comments, messages and documents', () => {
    const wrong = found.filter((use) => !isAllowed(use));
    expect(wrong.map((use) => `${use.file}:${use.line} ${use.found} -> ${use.use}`)).toEqual([]);
  });

  it('allows only what is still there', () => {
    const unused = ALLOWED.filter(
      (entry) => !found.some((use) => use.file.startsWith(entry.at) && use.found === entry.found),
    );
    expect(unused).toEqual([]);
  });

  it.each([
    ['src/a.ts', 'const statusColour = 1;', 'colour'],
    ['src/a.ts', 'this.#colours', 'colours'],
    ['src/a.ts', '// The behaviour\n', 'behaviour'],
    ['src/a.ts', 'throw new Error(`no centre`)', 'centre'],
    ['src/a.ts', 'const MOST_JOBS = 1;', 'most jobs constant'],
    ['docs/a.md', 'What is\nlearnt.', 'learnt'],
  ])('finds in %s: %s', (file, text, old) => {
    expect(oldWordsIn(file, text).map((use) => use.found)).toEqual([old]);
  });

  it('leaves strings of tests and Python examples alone', () => {
    expect(oldWordsIn('test/a.test.ts', "const script = 'colour = 1';")).toEqual([]);
    expect(oldWordsIn('docs/a.md', '```python\ncolour = 1\n```')).toEqual([]);
  });
});
