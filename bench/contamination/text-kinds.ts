import { readdirSync, readFileSync } from 'node:fs';
import { packagePath } from '../../src/package-root.js';
import { buildPairs } from '../../test/contamination/pairs/build-pairs.js';
import { pick, type Random, seeded } from '../../test/contamination/pairs/corpus.js';

/** Texts for the trigram similarity. Its speed depends on the number of different characters and trigrams. */
export interface TextKind {
  readonly name: string;
  /** Two texts of so many UTF-16 units with equal first halves. */
  pair(size: number): [string, string];
}

const GERMAN = `Der Übersetzer prüft jede Änderung, bevor er sie an die Prüfstelle schickt, und zählt dabei die
Wörter. Früher genügte ein flüchtiger Blick, heute müssen die Schlüssel geändert, die Schriftgrößen gemäß den
Maßen gewählt und die Lösungen für alle Fälle begründet werden. Während draußen Schnee fällt, hört man im Flur das
Geräusch der Türen; außerdem läuft die Heizung. „Können wir das ändern?“, fragte die Präsidentin – natürlich nicht
ohne Grund. Über die Brücke führt ein schmaler Weg zum Gebäude, dessen Dächer grün überwachsen sind. Große Mengen
Öl, Käse, Brötchen und süße Äpfel liegen im Keller. Gewöhnlich schließt das Büro um fünf; größere Aufträge hält es
zurück. Man möge bedenken, dass ähnliche Sätze häufig gehören zu dem, was ein Mensch täglich liest, schreibt oder
vergisst: Rechnungen, Märchen, Gesetze, Gespräche über das Wetter, Anleitungen zum Zusammenbauen von Schränken.`;

/** All files below a folder with an ending, one after the other. */
function textOf(folder: string, ending: string): string {
  return readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .sort()
    .map((file) => readFileSync(packagePath(folder, file), 'utf8'))
    .join('\n');
}

/** Takes parts until the text is long enough. */
function filled(size: number, next: () => string): string {
  let text = '';
  while (text.length < size) text += next();
  return text.slice(0, size);
}

function repeated(text: string, size: number): string {
  return filled(size, () => text);
}

/** Draws from a list so that the n-th entry occurs about 1/n times as often as the first, like words. */
function byRank<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(list.length ** random()) - 1] as T;
}

/** Invented words of one to three Chinese characters: only the frequencies of characters and pairs are realistic. */
function chineseWords(random: Random): string[] {
  const characters = Array.from({ length: 3_000 }, (_, rank) => String.fromCharCode(0x4e00 + rank * 6));
  const word = (): string =>
    Array.from({ length: 1 + Math.floor(random() * 2.5) }, () => byRank(random, characters)).join('');
  return ['，', '。', ...Array.from({ length: 8_000 }, word)];
}

/** TypeScript without comments, line breaks and most spaces. */
function minified(source: string): string {
  return source
    .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([-+*/=<>{}()[\];:,?&|!.]) ?/g, '$1');
}

function halfAlike(name: string, first: (size: number) => string, other: (size: number) => string): TextKind {
  return {
    name,
    pair: (size) => {
      const text = first(size);
      return [text, text.slice(0, size / 2) + other(size).slice(size / 2)];
    },
  };
}

function drawn(name: string, next: (random: Random) => () => string): TextKind {
  return halfAlike(
    name,
    (size) => filled(size, next(seeded(1))),
    (size) => filled(size, next(seeded(2))),
  );
}

const sources = textOf('src', '.ts');
const others = textOf('docs', '.md') + textOf('test', '.ts');
const known = buildPairs('tuning').map((pair) => pair.known);
const german = GERMAN.split(/\s+/);
const chinese = chineseWords(seeded(3));

export const TEXT_KINDS: readonly TextKind[] = [
  drawn('programs in ASCII', (random) => () => pick(random, known)),
  halfAlike(
    'sources and documents',
    (size) => repeated(sources, size),
    (size) => repeated(others, size),
  ),
  halfAlike(
    'CRLF',
    (size) => repeated(sources.replaceAll('\n', '\r\n'), size),
    (size) => repeated(others.replaceAll('\n', '\r\n'), size),
  ),
  halfAlike(
    'minified',
    (size) => repeated(minified(sources), size),
    (size) => repeated(minified(others), size),
  ),
  drawn('German', (random) => () => `${pick(random, german)} `),
  drawn('Chinese', (random) => () => byRank(random, chinese)),
  halfAlike(
    'one character',
    (size) => repeated('a', size),
    (size) => repeated('a', size),
  ),
];

/** The worst case, which nobody writes: random UTF-16 units, almost every trigram different. */
export const NOISE: TextKind = drawn(
  'random units',
  (random) => () => String.fromCharCode(Math.floor(random() * 0x10000)),
);
