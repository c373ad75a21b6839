import { loadOnDemand } from '../peers/on-demand.js';
import { ON_DEMAND } from '../peers/on-demand-packages.js';

export type Mark = object;
type MarkOf = (data: readonly object[], options: Readonly<Record<string, unknown>>) => Mark;

/** The used parts of Observable Plot and of its document. */
interface PlotLibrary {
  readonly plot: (options: Readonly<Record<string, unknown>>) => {
    readonly outerHTML: string;
    setAttribute(name: string, value: string): void;
  };
  readonly line: MarkOf;
  readonly dot: MarkOf;
  readonly text: MarkOf;
  readonly ruleX: MarkOf;
  readonly ruleY: (values: readonly number[]) => Mark;
  readonly parseHTML: (html: string) => { readonly document: object };
}

/** Colors that are readable on light and on dark backgrounds; the picture has its own background. */
const STYLE = `
svg { color: #1f2328; background: #ffffff; --fleet: #0757ba; --second: #b34700; --bare: #5f6872; --grid: #1f2328; }
@media (prefers-color-scheme: dark) {
  svg { color: #e6edf3; background: #0d1117; --fleet: #79b8ff; --second: #ffab70; --bare: #9aa4af; --grid: #e6edf3; }
}
`;

export type Drawing = (plot: PlotLibrary) => Readonly<Record<string, unknown>>;

/** @throws if the library cannot be installed. */
export async function loadDrawer(): Promise<(title: string, drawing: Drawing) => string> {
  const loaded = await loadOnDemand(ON_DEMAND.plot);
  if ('missing' in loaded) throw new Error(loaded.missing);
  const library = loaded.module as PlotLibrary;
  return (title, drawing) => {
    const { document } = library.parseHTML('<!doctype html><html><body></body></html>');
    const svg = library.plot({ document, width: 680, height: 340, ...drawing(library) });
    svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    return `${svg.outerHTML.replace(/(<svg[^>]*>)/, `$1<title>${title}</title><style>${STYLE}</style>`)}\n`;
  };
}
