import type { Logger } from 'pino';
import type { FleetClient } from '../producers/fleet-client.js';
import type { KindRegistry } from '../queues/registry.js';
import type { AnswerAgent } from './agents/mount-agents.js';
import type { CostReader } from './costs.js';
import type { GatewaySettings } from './gateway.js';
import type { TransferRate } from './http/transfer-watch.js';

/** Time limits for clients, in milliseconds. */
export interface ServerLimits {
  readonly headersTimeoutMs: number;
  /** For the whole request to arrive. */
  readonly requestTimeoutMs: number;
  readonly headerBytes: number;
  /** Minimum speed of a body once the gateway reads it. */
  readonly bodyRate: TransferRate;
  /** How long a client may read nothing of a ready answer, and how long it may take for the whole. */
  readonly sendIdleMs: number;
  readonly sendMs: number;
  /** How long open requests may continue when the gateway closes. */
  readonly closeGraceMs: number;
}

export interface GatewayOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly settings: GatewaySettings;
  readonly logger: Logger;
  readonly redisUrl: string;
  /** Connects to the fleet with a client that knows these kinds, after the caller's checks of the Redis server. */
  readonly openFleet: (kinds: KindRegistry) => Promise<FleetClient>;
  /** The kinds that have routes; default: the built-in ones. */
  readonly kinds?: KindRegistry;
  readonly costs: CostReader;
  /** Answers agents by the Model Context Protocol; default: there is no such route. */
  readonly answerAgent?: AnswerAgent;
  /** Shows an important message to the person who started the gateway. */
  readonly announce: (message: string) => void;
  readonly limits?: Partial<ServerLimits>;
  /** How often to look for expired leases of evaluations, in milliseconds. */
  readonly stalledCheckMs?: number;
}
