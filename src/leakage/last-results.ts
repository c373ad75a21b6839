/** Longer scripts are not cached, in UTF-16 code units: their syntax takes a hundred times their memory. */
const MAX_LENGTH = 65_536;

/** What was computed of the last scripts, for the next step, which often is about one of them. */
export class LastResults<T> {
  readonly #most: number;
  readonly #mayStay: (result: T) => boolean;
  /** The last one used comes last. */
  readonly #results = new Map<string, Promise<T>>();

  /**
   * @param most how many are cached
   * @param mayStay whether a result is cached once it is there
   */
  constructor(most: number, mayStay: (result: T) => boolean = () => true) {
    this.#most = most;
    this.#mayStay = mayStay;
  }

  /** The result under a key that holds all that it depends on: the same object for each caller while it is cached. */
  of(key: string, source: string, compute: () => Promise<T>): Promise<T> {
    if (source.length > MAX_LENGTH) return compute();
    const result = this.#results.get(key) ?? this.#checked(key, compute());
    this.#results.delete(key);
    this.#results.set(key, result);
    const [oldest] = this.#results.keys();
    if (this.#results.size > this.#most && oldest !== undefined) this.#results.delete(oldest);
    return result;
  }

  #checked(key: string, result: Promise<T>): Promise<T> {
    const forget = () => this.#results.delete(key);
    // A failure depends on the time that parsing took.
    result.then((value) => this.#mayStay(value) || forget(), forget);
    return result;
  }
}
