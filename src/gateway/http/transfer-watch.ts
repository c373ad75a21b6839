/** How fast a client must send. */
export interface TransferRate {
  readonly windowMs: number;
  /** Bytes that must arrive in any window. */
  readonly minBytes: number;
}

/** Looks in a window. */
const LOOKS = 4;

/** Watches how fast bytes arrive, over a sliding window. */
export class TransferWatch {
  readonly #rate: TransferRate;
  readonly #onSlow: () => void;
  readonly #timer: NodeJS.Timeout;
  /** Sums at the last looks, oldest first. */
  #sums: number[] = [0];
  #sum = 0;
  #lookedAt = performance.now();

  constructor(rate: TransferRate, onSlow: () => void) {
    this.#rate = rate;
    this.#onSlow = onSlow;
    this.#timer = setInterval(() => this.#look(), rate.windowMs / LOOKS);
  }

  add(bytes: number): void {
    this.#sum += bytes;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    const isLate = now - this.#lookedAt > (2 * this.#rate.windowMs) / LOOKS;
    this.#lookedAt = now;
    // The gateway itself was busy: bytes may have arrived that it has not read yet.
    if (isLate) this.#sums = [];
    this.#sums.push(this.#sum);
    if (this.#sums.length <= LOOKS) return;
    const before = this.#sums.shift() ?? 0;
    if (this.#sum - before >= this.#rate.minBytes) return;
    this.stop();
    this.#onSlow();
  }
}
