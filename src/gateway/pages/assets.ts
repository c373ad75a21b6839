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

/** The content of each file, read or unpacked once: all answers share it, whether anyone reads them or not. */
class Contents {
  readonly #stored = new Map<string, Promise<Buffer>>();
  readonly #unpacked = new Map<string, Promise<Buffer>>();

  stored(file: string): Promise<Buffer> {
    return once(this.#stored, file, () => readFile(packagePath('assets', 'gateway', file)));
  }

  unpacked(file: string): Promise<Buffer> {
    return once(this.#unpacked, file, async () => unzip(await this.stored(file)));
  }
}

const unzip = promisify(gunzip);

/** The value of a key, made at the first use; made again if that failed. */
function once(
  values: Map<string, Promise<Buffer>>,
  key: string,
  make: () => Promise<Buffer>,
): Promise<Buffer> {
  const known = values.get(key);
  if (known !== undefined) return known;
  const made = make();
  values.set(key, made);
  made.catch(() => values.delete(key));
  return made;
}

/** Serves the files of the pages; they have no data, so they need no token. */
export function serveAsset(): RequestHandler<{ name: string }> {
  const contents = new Contents();
  return async (request, response, next) => {
    const { name } = request.params;
    const asset = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
    if (asset === undefined) {
      next();
      return;
    }
    const { type, file = name } = asset;
    response.set({ 'content-type': type, 'cache-control': `public, max-age=${CACHE_SECONDS}` });
    if (!file.endsWith('.gz')) {
      response.send(await contents.stored(file));
      return;
    }
    response.vary('accept-encoding');
    if (request.acceptsEncodings('gzip') === 'gzip')
      response.set('content-encoding', 'gzip').send(await contents.stored(file));
    else response.send(await contents.unpacked(file));
  };
}
