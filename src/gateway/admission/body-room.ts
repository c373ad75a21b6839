import { RequestError } from '../../errors.js';
import { tooManyOpen } from './resource-limits.js';

/** Bodies up to this size never wait for large ones, and do not count with them. */
export const SMALL_BODY_BYTES = 65_536;
/** Room of one token for small bodies, in bytes. */
const SMALL_ROOM = 256 * SMALL_BODY_BYTES;
/** Room of one token for large bodies, and of all tokens together, in bodies of the largest size. */
const LARGE_PER_TOKEN = 2;
const LARGE_IN_ALL = 8;
/** How many large bodies of one token may wait; more are rejected. */
const MAX_QUEUED = 128;

interface Waiter {
  readonly bytes: number;
  enter(): void;
}

/** What the bodies of one token use. */
interface TokenRoom {
  smallBytes: number;
  /** The most bytes that the large bodies of the token may have. */
  reservedBytes: number;
  bodies: number;
  readonly queue: Waiter[];
}

/**
 * Room for request bodies in memory. Small bodies count for their token alone, as they arrive. Large ones first wait until
 * their token has room for their largest possible size, so a slow client only takes room from its own token. Over all tokens
 * only bytes that have arrived count.
 */
export class BodyRoom {
  readonly #bodyBytes: number;
  readonly #tokens = new Map<string, TokenRoom>();
  #largeBytes = 0;

  /** @param bodyBytes Largest body. */
  constructor(bodyBytes: number) {
    this.#bodyBytes = bodyBytes;
  }

  /** Bytes of large bodies that are in memory. */
  get largeBytes(): number {
    return this.#largeBytes;
  }

  /** Tokens with a body that is in memory or arriving. */
  get tokenCount(): number {
    return this.#tokens.size;
  }

  /** Room for one body of a token; the caller must release it. */
  open(token: string): BodyReservation {
    const room = this.#tokens.get(token) ?? { smallBytes: 0, reservedBytes: 0, bodies: 0, queue: [] };
    this.#tokens.set(token, room);
    room.bodies += 1;
    let small = 0;
    let large = 0;
    let reserved = 0;
    let isReleased = false;
    const reservation: BodyReservation = {
      reserve: async (bytes, signal) => {
        if (reserved > 0) return;
        await this.#reserve(room, bytes, signal);
        reserved = bytes;
        // The client may have left just when the room became free.
        if (isReleased) return reservation.release();
        this.#takeLarge(small);
        large = small;
        room.smallBytes -= small;
        small = 0;
      },
      hold: (bytes) => {
        if (reserved > 0) {
          this.#takeLarge(bytes);
          large += bytes;
          return;
        }
        if (room.smallBytes + bytes > SMALL_ROOM) {
          throw tooManyOpen(Math.floor(SMALL_ROOM / SMALL_BODY_BYTES), 'request bodies in memory');
        }
        room.smallBytes += bytes;
        small += bytes;
      },
      release: () => {
        room.smallBytes -= small;
        this.#largeBytes -= large;
        room.reservedBytes -= reserved;
        if (!isReleased) room.bodies -= 1;
        isReleased = true;
        small = 0;
        large = 0;
        reserved = 0;
        this.#admitNext(room);
        if (room.bodies === 0 && room.reservedBytes === 0) this.#tokens.delete(token);
      },
    };
    return reservation;
  }

  #takeLarge(bytes: number): void {
    if (this.#largeBytes + bytes > this.#bodyBytes * LARGE_IN_ALL) {
      throw new RequestError(
        'gateway-busy',
        'the gateway is reading as many large request bodies as it has room for',
      );
    }
    this.#largeBytes += bytes;
  }

  #fits(room: TokenRoom, bytes: number): boolean {
    return room.reservedBytes + bytes <= this.#bodyBytes * LARGE_PER_TOKEN;
  }

  async #reserve(room: TokenRoom, bytes: number, signal: AbortSignal): Promise<void> {
    if (room.queue.length === 0 && this.#fits(room, bytes)) {
      room.reservedBytes += bytes;
      return;
    }
    if (room.queue.length >= MAX_QUEUED) throw tooManyOpen(MAX_QUEUED, 'large request bodies waiting');
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        room.queue.splice(room.queue.indexOf(waiter), 1);
        // A smaller one after it may fit now.
        this.#admitNext(room);
        reject(signal.reason);
      };
      const waiter = {
        bytes,
        enter: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      room.queue.push(waiter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  #admitNext(room: TokenRoom): void {
    for (;;) {
      const [next] = room.queue;
      if (next === undefined || !this.#fits(room, next.bytes)) return;
      room.queue.shift();
      room.reservedBytes += next.bytes;
      next.enter();
    }
  }
}

/** The room of one body. */
export interface BodyReservation {
  /**
   * Waits until the token has room for a large body.
   * @param bytes The most bytes that the body may have.
   * @throws RequestError `too-many-open`, `gateway-busy`; the signal's reason if the client leaves before.
   */
  reserve(bytes: number, signal: AbortSignal): Promise<void>;
  /** Called before bytes are stored. @throws RequestError `too-many-open`, `gateway-busy`. */
  hold(bytes: number): void;
  release(): void;
}
