import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';

const pagesIn = (folder: string) =>
  readdirSync(packagePath(folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
const MEASUREMENTS = pagesIn('docs/measurements');
const DOCUMENTS = ['README.md', ...pagesIn('docs')];
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

describe.each([...DOCUMENTS, ...MEASUREMENTS])('%s', (document) => {
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

describe('docs/measurements', () => {
  it('has no page that no other page links to', () => {
    const linked = new Set(DOCUMENTS.flatMap(linkedFiles));
    expect(MEASUREMENTS.filter((document) => !linked.has(document))).toEqual([]);
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
