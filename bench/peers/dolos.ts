import { loadOnDemand } from './on-demand.js';
import { ON_DEMAND } from './on-demand-packages.js';

/** The used part of the library. */
interface DolosLibrary {
  readonly Dolos: new (options: {
    readonly language: string;
  }) => {
    analyze(files: readonly object[]): Promise<{ allPairs(): readonly { readonly similarity: number }[] }>;
  };
  readonly File: new (path: string, content: string) => object;
}

/** Similarity of two Python texts by Dolos; or why it is not available. */
export async function dolosComparison(): Promise<
  { readonly compare: (first: string, second: string) => Promise<number> } | { readonly missing: string }
> {
  const loaded = await loadOnDemand(ON_DEMAND.dolos);
  if ('missing' in loaded) return loaded;
  const { Dolos, File } = loaded.module as DolosLibrary;
  return {
    compare: async (first, second) => {
      // A used instance keeps earlier files in its index, and becomes slower with every pair.
      const dolos = new Dolos({ language: 'python' });
      const report = await dolos.analyze([new File('known.py', first), new File('output.py', second)]);
      const [pair] = report.allPairs();
      return pair?.similarity ?? 0;
    },
  };
}
