import type { Logger } from 'pino';
import type { FleetClient } from '../producers/fleet-client.js';
import type { CostReader } from './costs.js';
import type { GatewaySettings } from './gateway.js';
import type { TransferRate } from './http/transfer-watch.js';

/** How patient the server is with its clients; times in milliseconds. */
export interface ServerLimits {
  readonly headersTimeoutMs: number;
  /** For the whole request to arrive. */
  readonly requestTimeoutMs: number;
  readonly headerBytes: number;
  /** How fast a body must arrive once it is read. */
  readonly bodyRate: TransferRate;
  /** How long a client may take nothing of an answer that is ready for it, and how long it may take for the whole. */
  readonly sendIdleMs: number;
  readonly sendMs: number;
  /** How long open requests may go on when the gateway closes. */
  readonly closeGraceMs: number;
}

export interface GatewayOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly settings: GatewaySettings;
  readonly logger: Logger;
  readonly redisUrl: string;
  /** Connects to the fleet, after checks of the Redis server as the caller sees fit. */
  readonly openFleet: () => Promise<FleetClient>;
  readonly costs: CostReader;
  /** Tells the person who started the gateway something that must not be overlooked. */
  readonly announce: (message: string) => void;
  readonly limits?: Partial<ServerLimits>;
  /** How often leases of evaluations that ran out are looked for, in milliseconds. */
  readonly stalledCheckMs?: number;
}
