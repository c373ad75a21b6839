import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FleetError, KindError, messageOf } from '../errors.js';
import type { KindRegistry } from '../queues/registry.js';
import { isKind, type Kind } from './define-kind.js';
import { importProblem } from './import-problem.js';
import { processedKinds } from './registry.js';

/** The address of a module: the same in every process, wherever that runs. */
export function moduleUrl(path: string): string {
  return path.startsWith('file:') ? path : pathToFileURL(resolve(path)).href;
}

/**
 * The built-in kinds, those that modules export, and others.
 * @param modules Paths or `file:` URLs.
 * @throws KindError if a module cannot be loaded or exports no kind, or if two kinds have the same name.
 */
export async function loadKinds(
  modules: readonly string[] = [],
  own: readonly Kind[] = [],
): Promise<KindRegistry<Kind>> {
  const kinds = new Set(own);
  let registry = processedKinds(own);
  for (const path of modules) {
    try {
      for (const kind of await kindsOf(path)) kinds.add(kind);
      registry = processedKinds([...kinds]);
    } catch (thrown) {
      throw new KindError(`the kinds of ${path} cannot be used: ${messageOf(thrown)}`, { cause: thrown });
    }
  }
  return registry;
}

async function kindsOf(path: string): Promise<readonly Kind[]> {
  const url = moduleUrl(path);
  const exported = await import(url).then(
    (module: Readonly<Record<string, unknown>>) => module,
    async (thrown: unknown) => {
      // Errors of the fleet name the kind, agent or prompt at fault.
      if (thrown instanceof FleetError) throw thrown;
      throw new KindError(await importProblem(url, thrown), { cause: thrown });
    },
  );
  const kinds = Object.values(exported).flat().filter(isKind);
  if (kinds.length === 0) throw new KindError('it exports no kind; export what defineKind returns');
  return kinds;
}
