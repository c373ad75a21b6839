import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { RequestHandler } from 'express';
import { packagePath } from '../../package-root.js';

const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

interface Asset {
  readonly type: string;
  /** File below `assets/gateway`, if its name is another one. One that ends with `.gz` is sent as it is. */
  readonly file?: string;
}

/** Files that the pages load, and their media types. Nothing else is served from the disk. */
const FILES: Readonly<Record<string, Asset>> = {
  'pages.css': { type: CSS },
  'overview.js': { type: SCRIPT },
  'icon.svg': { type: 'image/svg+xml' },
  'docs.css': { type: CSS },
  'docs.js': { type: SCRIPT },
  'swagger-ui.css': { type: CSS, file: 'swagger-ui/swagger-ui.css.gz' },
  'swagger-ui.js': { type: SCRIPT, file: 'swagger-ui/swagger-ui-bundle.js.gz' },
};
const CACHE_SECONDS = 300;

/** Serves the files of the pages; they have no data, so they need no token. */
export function serveAsset(): RequestHandler<{ name: string }> {
  /** Read once: all answers share them. */
  const contents = new Map<string, Buffer>();
  return async (request, response, next) => {
    const { name } = request.params;
    const asset = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
    if (asset === undefined) {
      next();
      return;
    }
    const { type, file = name } = asset;
    const content = contents.get(name) ?? (await readFile(packagePath('assets', 'gateway', file)));
    contents.set(name, content);
    response.set({ 'content-type': type, 'cache-control': `public, max-age=${CACHE_SECONDS}` });
    if (!file.endsWith('.gz')) {
      response.send(content);
      return;
    }
    response.vary('accept-encoding');
    if (request.acceptsEncodings('gzip') === 'gzip') response.set('content-encoding', 'gzip').send(content);
    else response.send(await promisify(gunzip)(content));
  };
}
