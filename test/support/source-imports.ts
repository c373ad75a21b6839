import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { packagePath } from '../../src/package-root.js';

export interface SourceImport {
  /** File below `src/`, as in `queues/kind.ts`. */
  readonly file: string;
  /** Its room: the folder right below `src/`, or the file's name there. */
  readonly room: string;
  /** `room:NAME` for a module of this project, otherwise the package's name (`@scope/name` without a path). */
  readonly target: string;
  /** Whether only types are imported, which leaves nothing in the compiled code. */
  readonly typeOnly: boolean;
}

const STATEMENT = /^(?:import|export)\s+(type\s)?[\w$*{},\s]*?from\s+'([^']+)'/gm;
const BARE = /^import\s+'([^']+)'/gm;
const DYNAMIC = /\bimport\(\s*'([^']+)'\s*\)/g;

/** Every import statement of `src/`, `node:` modules and imports within a room left out. */
export function sourceImports(): SourceImport[] {
  const source = packagePath('src');
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => importsOf(file, readFileSync(join(source, file), 'utf8')));
}

export function importsOf(file: string, text: string): SourceImport[] {
  const room = roomOf(file);
  const found = [
    ...[...text.matchAll(STATEMENT)].map(([, type, specifier]) => ({
      specifier,
      typeOnly: type !== undefined,
    })),
    ...[...text.matchAll(BARE)].map(([, specifier]) => ({ specifier, typeOnly: false })),
    ...[...text.matchAll(DYNAMIC)].map(([, specifier]) => ({ specifier, typeOnly: false })),
  ];
  return found.flatMap(({ specifier = '', typeOnly }) => {
    if (specifier.startsWith('node:')) return [];
    const target = targetOf(file, specifier);
    return target === `room:${room}` ? [] : [{ file, room, target, typeOnly }];
  });
}

function targetOf(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return `room:${roomOf(normalize(join(dirname(file), specifier)))}`;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function roomOf(file: string): string {
  const first = relative('.', file).split(sep)[0] ?? '';
  return first.replace(/\.(ts|js)$/, '');
}
