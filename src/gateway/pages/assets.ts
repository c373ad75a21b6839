import { readFile } from 'node:fs/promises';
import type { RequestHandler } from 'express';
import { packagePath } from '../../package-root.js';

/** Files that the pages load, and their media types. Nothing else is served from the disk. */
const FILES: Readonly<Record<string, string>> = {
  'pages.css': 'text/css; charset=utf-8',
  'overview.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};
const CACHE_SECONDS = 300;

/** Serves the files of the pages; they have no data, so they need no token. */
export function serveAsset(): RequestHandler<{ name: string }> {
  /** Read once: all answers share them. */
  const contents = new Map<string, Buffer>();
  return async (request, response, next) => {
    const { name } = request.params;
    const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
    if (type === undefined) {
      next();
      return;
    }
    const content = contents.get(name) ?? (await readFile(packagePath('assets', 'gateway', name)));
    contents.set(name, content);
    response.set({ 'content-type': type, 'cache-control': `public, max-age=${CACHE_SECONDS}` }).send(content);
  };
}
