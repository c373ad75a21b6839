import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import { DURATION_BOUNDS, totalField } from './statistics-keys.js';

type HistogramValue = MetricValue<string> & { readonly metricName: string };

/** A histogram whose counts are in the totals. prom-client's own can only observe one value after the other. */
export class DurationHistogram {
  readonly name: string;
  readonly help: string;
  #values: HistogramValue[] = [];

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  set(kinds: readonly string[], totals: ReadonlyMap<string, number>): void {
    this.#values = kinds.flatMap((kind): HistogramValue[] => {
      let count = 0;
      const bucket = (le: string, added: number): HistogramValue => {
        count += added;
        return { metricName: `${this.name}_bucket`, labels: { kind, le }, value: count };
      };
      const ended = (bound: string) => totals.get(totalField('duration', kind, bound)) ?? 0;
      const buckets = DURATION_BOUNDS.map((bound) => bucket(String(bound), ended(String(bound))));
      const all = bucket('+Inf', ended('more'));
      return [
        ...buckets,
        all,
        {
          metricName: `${this.name}_sum`,
          labels: { kind },
          value: totals.get(totalField('duration-sum', kind)) ?? 0,
        },
        { metricName: `${this.name}_count`, labels: { kind }, value: count },
      ];
    });
  }

  /** The interface that prom-client's registry requires of a metric. */
  async get(): Promise<MetricObjectWithValues<HistogramValue>> {
    const { name, help } = this;
    const collect = () => undefined;
    return { name, help, collect, type: 'histogram' as never, aggregator: 'sum', values: this.#values };
  }

  /** Called by the registry on reset; the counts are in Redis. */
  reset(): void {
    this.#values = [];
  }
}
