/** A way of asking: the rows compare what it costs. Another one is another entry. */
export interface Way {
  /** Name of its row, after `cost`. */
  readonly name: string;
  readonly work: string;
  /** Settings of the worker; without any, the fleet as it is. */
  readonly settings: Readonly<Record<string, string>>;
}

export const AS_IT_IS: Way = { name: 'fleet', work: 'the fleet as it is', settings: {} };

/** Each lever alone. */
const LEVERS: readonly Way[] = [
  {
    name: 'static-first',
    work: 'the model is asked only where static analysis is not certain',
    settings: { FLEET_OPINION: 'static-first' },
  },
  {
    name: 'shared',
    work: 'one correction for leaks that share a block or a split',
    settings: { FLEET_CORRECTIONS: 'shared' },
  },
  {
    name: 'edits',
    work: 'the same, and only the changed lines of long blocks',
    settings: { FLEET_CORRECTIONS: 'edits' },
  },
];

export const ALL: Way = {
  name: 'all',
  work: 'all levers',
  settings: Object.assign({}, ...LEVERS.map(({ settings }) => settings)),
};

export const WAYS: readonly Way[] = [AS_IT_IS, ...LEVERS, ALL];
