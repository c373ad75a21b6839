import { RequestError } from '../../errors.js';

/** Bytes of request bodies that are held at the same time, over all requests, so that memory stays bounded. */
export class BodyBudget {
  readonly #limit: number;
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  /** @throws RequestError `gateway-busy` where other requests hold too much. */
  hold(bytes: number): void {
    if (this.#held + bytes > this.#limit) {
      throw new RequestError(
        'gateway-busy',
        'the gateway is reading as many request bodies as it has room for',
      );
    }
    this.#held += bytes;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }
}
