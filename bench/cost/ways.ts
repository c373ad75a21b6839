/** A way of asking: the rows compare what it costs. Another one is another entry. */
export interface Way {
  /** Name of its row, after `cost`. */
  readonly name: string;
  readonly work: string;
  /** Settings of the worker; without any, the fleet as it is. */
  readonly settings: Readonly<Record<string, string>>;
  /** Measures the second time that all scripts are checked. */
  readonly again?: boolean;
}

export const AS_IT_IS: Way = { name: 'fleet', work: 'the fleet as it is', settings: {} };

/** What each lever costs or saves, alone; a part of the fleet as it is shows by being switched off. */
const OFF: readonly Way[] = [
  {
    name: 'without cache order',
    work: 'the fleet without the order of calls by their prompt cache',
    settings: { FLEET_CACHE_WAIT_MS: '0' },
  },
];

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
  {
    name: 'batch',
    work: 'a deadline in a day: first calls of conversations go in batches',
    // The bench's batches end at once.
    settings: { FLEET_BATCH_AFTER: '1d', FLEET_BATCH_COLLECT_MS: '2000', FLEET_BATCH_POLL_MS: '200' },
  },
];

/** The same scripts a second time. */
const REUSED: Way = {
  name: 'reuse',
  work: 'the same scripts a second time, with the answers that are known',
  settings: { FLEET_REUSE: 'fleet' },
  again: true,
};

export const ALL: Way = {
  name: 'all',
  work: 'static-first, edits and batches together',
  settings: Object.assign({}, ...LEVERS.map(({ settings }) => settings)),
};

export const WAYS: readonly Way[] = [AS_IT_IS, ...OFF, ...LEVERS, ALL, REUSED];
