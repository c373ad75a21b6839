/** Prices of a model in US dollars for a million tokens. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  /** Kept for five minutes. */
  readonly cacheWrite: number;
  /** Kept for an hour. */
  readonly cacheWrite1h: number;
}

export interface ModelPrices extends TokenPrices {
  /** Prices of every token of a request whose whole prompt, cached parts included, is longer than `above`. */
  readonly longPrompt?: (TokenPrices & { readonly above: number }) | undefined;
}

/** Prices by model; null for a model whose price is not known, whatever another list says. */
export type PriceList = Readonly<Record<string, ModelPrices | null>>;

/** Cache writes cost 1.25 times the input price for five minutes and twice for an hour, on every model. */
function prices(input: number, output: number, cacheRead: number): TokenPrices {
  return { input, output, cacheRead, cacheWrite: input * 1.25, cacheWrite1h: input * 2 };
}

/** Prices of a model as a configuration names them, in US dollars for a million tokens. */
export interface OwnPrices {
  readonly input: number;
  readonly output: number;
  /** Of input that the provider had cached; default: as other input. */
  readonly cacheRead?: number | undefined;
}

/** The prices of a configuration. Writing to a cache costs nothing extra, as with providers that cache by themselves. */
export function priceListOf(own: Readonly<Record<string, OwnPrices>>): PriceList {
  return Object.fromEntries(
    Object.entries(own).map(([model, { input, output, cacheRead = input }]): [string, ModelPrices] => [
      model,
      { input, output, cacheRead, cacheWrite: input, cacheWrite1h: input },
    ]),
  );
}

/**
 * The provider's list prices. A model that is missing here has no known price: its cost is null, never a guess.
 */
export const PRICE_LIST: {
  readonly asOf: string;
  readonly source: string;
  readonly models: PriceList;
} = {
  asOf: '2026-10-24',
  source: 'https://platform.claude.com/docs/en/about-claude/pricing',
  models: {
    'claude-fable-5-1': prices(10, 50, 0.25),
    'claude-mythos-5-1': prices(10, 50, 0.25),
    'claude-fable-5': prices(10, 50, 1),
    'claude-mythos-5': prices(10, 50, 1),
    'claude-opus-5-5': prices(4, 20, 0.2),
    'claude-opus-5': prices(5, 25, 0.5),
    'claude-opus-4-8': prices(5, 25, 0.5),
    'claude-opus-4-7': prices(5, 25, 0.5),
    'claude-opus-4-6': prices(5, 25, 0.5),
    'claude-opus-4-5': prices(5, 25, 0.5),
    'claude-sonnet-5-5': prices(2, 10, 0.1),
    'claude-sonnet-5': prices(2, 10, 0.2),
    'claude-sonnet-4-6': prices(3, 15, 0.3),
    'claude-sonnet-4-5': prices(3, 15, 0.3),
    'claude-haiku-5-5': {
      ...prices(0.1, 0.5, 0.01),
      longPrompt: { above: 100_000, ...prices(0.5, 2.5, 0.05) },
    },
    'claude-haiku-4-5': prices(1, 5, 0.1),
  },
};
