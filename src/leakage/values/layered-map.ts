/**
 * A map that is never changed: `withEntry` gives a new one. It shares most of its entries with the map that it was made
 * from, so that a script which sets thousands of columns one by one is not copied thousands of times over: each layer is
 * longer than the next one, and an entry is copied when its layer joins one of its own length, about log₂(size) times.
 */
export class LayeredMap<K, V> implements ReadonlyMap<K, V> {
  /** Oldest first; a later layer's value of a key counts. */
  #layers: readonly ReadonlyMap<K, V>[];

  private constructor(
    layers: readonly ReadonlyMap<K, V>[],
    readonly size: number,
  ) {
    this.#layers = layers;
  }

  static withEntry<K, V>(map: ReadonlyMap<K, V>, key: K, value: V): LayeredMap<K, V> {
    const layers = map instanceof LayeredMap ? [...(map as LayeredMap<K, V>).#layers] : [map];
    let last: ReadonlyMap<K, V> = new Map([[key, value]]);
    for (let older = layers.at(-1); older !== undefined && older.size <= last.size; older = layers.at(-1)) {
      last = joined([older, last]);
      layers.pop();
    }
    return new LayeredMap([...layers, last], map.has(key) ? map.size : map.size + 1);
  }

  has(key: K): boolean {
    return this.#layers.some((layer) => layer.has(key));
  }

  get(key: K): V | undefined {
    return this.#layers.findLast((layer) => layer.has(key))?.get(key);
  }

  /** In the order in which the keys were first set, as in a `Map`. */
  entries(): MapIterator<[K, V]> {
    return this.#whole().entries();
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }

  keys(): MapIterator<K> {
    return this.#whole().keys();
  }

  values(): MapIterator<V> {
    return this.#whole().values();
  }

  forEach(visit: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this) visit(value, key, this);
  }

  /** All entries in one layer, which is kept: the layers are joined only once. */
  #whole(): ReadonlyMap<K, V> {
    const whole = joined(this.#layers);
    this.#layers = [whole];
    return whole;
  }
}

function joined<K, V>(layers: readonly ReadonlyMap<K, V>[]): ReadonlyMap<K, V> {
  const [first, ...others] = layers;
  if (first !== undefined && others.length === 0) return first;
  const whole = new Map(first);
  for (const layer of others) for (const [key, value] of layer) whole.set(key, value);
  return whole;
}
