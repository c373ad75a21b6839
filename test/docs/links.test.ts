import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';

const PAGES = readdirSync(packagePath('docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
/** Pages of a folder below `docs/`: parts of a page, and measurements. */
const PARTS = PAGES.filter((page) => page.split('/').length > 2);
const DOCUMENTS = ['README.md', ...PAGES.filter((page) => !PARTS.includes(page))];
const { files } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { files: string[] };

/** Files of the package that a document links to, relative to the package. */
function linkedFiles(document: string): string[] {
  const text = readFileSync(packagePath(document), 'utf8');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
    .map((target) => normalize(join(dirname(document), target)));
}

/** Anchors of a page's headings, as GitHub makes them. */
function anchorsOf(document: string): string[] {
  const text = readFileSync(packagePath(document), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe.each([...DOCUMENTS, ...PARTS])('%s', (document) => {
  it('links to files that are there, and in the package', () => {
    const broken = linkedFiles(document).filter(
      (file) =>
        !existsSync(packagePath(file)) ||
        !files.some((shipped) => file === shipped || file.startsWith(`${shipped}/`)),
    );
    expect(broken).toEqual([]);
  });

  it('links to headings that are there', () => {
    const links = [...readFileSync(packagePath(document), 'utf8').matchAll(/\]\(([^)\s:]*)#([^)\s]+)\)/g)];
    const broken = links.filter(([, file = '', anchor = '']) => {
      const target = file === '' ? document : normalize(join(dirname(document), file));
      return !anchorsOf(target).includes(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});

describe('README.md', () => {
  it('leads to every document', () => {
    const linked = linkedFiles('README.md');
    expect(DOCUMENTS.filter((document) => document !== 'README.md' && !linked.includes(document))).toEqual(
      [],
    );
  });
});

describe('the folders below docs/', () => {
  it('have no page that no document links to', () => {
    const linked = new Set(DOCUMENTS.flatMap(linkedFiles));
    expect(PARTS.filter((document) => !linked.has(document))).toEqual([]);
  });
});

describe('docs/architecture.md', () => {
  it('has a row for every room', () => {
    const text = readFileSync(packagePath('docs', 'architecture.md'), 'utf8');
    const rooms = readdirSync(packagePath('src')).filter((name) =>
      statSync(packagePath('src', name)).isDirectory(),
    );
    expect(rooms.filter((room) => !text.includes(`\`src/${room}/\``))).toEqual([]);
  });
});
