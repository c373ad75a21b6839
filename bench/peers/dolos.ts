import { loadOnDemand } from './on-demand.js';
import { ON_DEMAND } from './on-demand-packages.js';

/** The part of the library that is used here. */
interface DolosLibrary {
  readonly Dolos: new (options: {
    readonly language: string;
  }) => {
    analyze(files: readonly object[]): Promise<{ allPairs(): readonly { readonly similarity: number }[] }>;
  };
  readonly File: new (path: string, content: string) => object;
}

/** Similarity of two Python texts as Dolos sees it; or why it cannot be had. */
export async function dolosComparison(): Promise<
  { readonly compare: (first: string, second: string) => Promise<number> } | { readonly missing: string }
> {
  const loaded = await loadOnDemand(ON_DEMAND.dolos);
  if ('missing' in loaded) return loaded;
  const { Dolos, File } = loaded.module as DolosLibrary;
  return {
    compare: async (first, second) => {
      // One that has analyzed other files before keeps them in its index, and takes longer with every pair.
      const dolos = new Dolos({ language: 'python' });
      const report = await dolos.analyze([new File('known.py', first), new File('output.py', second)]);
      const [pair] = report.allPairs();
      return pair?.similarity ?? 0;
    },
  };
}
