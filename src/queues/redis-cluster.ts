import { createConnection } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis';
import { z } from 'zod';

/** Maximum wait for one node of a cluster to say which node has the slot, in milliseconds. */
const NODE_MS = 2_000;
/** Maximum pause between two rounds through the nodes, in milliseconds. */
const ROUND_MS = 1_000;

export interface ClusterNode {
  readonly host: string;
  readonly port: number;
}

export interface ClusterSettings {
  /** Nodes to query first; the others are learned from them. */
  readonly nodes: readonly ClusterNode[];
  /** The text between the braces of the prefix. It alone decides which slot, and therefore which node, has the keys. */
  readonly tag: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: Readonly<Record<string, never>>;
}

/** Reply of CLUSTER SLOTS: first and last slot, then the master's host and port, then its replicas. */
const Slots = z.array(
  z.tuple([z.number(), z.number()]).rest(z.tuple([z.string().nullable(), z.number()]).rest(z.unknown())),
);

/**
 * The part of a key that determines its slot; undefined if that is the whole key.
 * Source: Redis Cluster specification, "Hash tags".
 */
export function hashTagOf(key: string): string | undefined {
  return /^[^{]*\{([^}]+)\}/.exec(key)?.[1];
}

/**
 * How a client finds its node of a Redis Cluster.
 *
 * All keys of a fleet carry one hash tag, so one node has them all, and scripts over many keys, SCAN and blocking reads
 * work as on a single server. What changes over time is which node that is: every connection first asks the cluster, and
 * `followsSlot` makes a client connect again when a node answers that the slot is elsewhere now.
 */
export function clusterConnector(settings: ClusterSettings): NonNullable<RedisOptions['Connector']> {
  const { tls, tag } = settings;
  return class ClusterConnector extends AbstractConnector {
    #nodes = settings.nodes;
    #nextNode = 0;

    constructor() {
      super(NODE_MS);
    }

    override check(info: { readonly role?: string }): boolean {
      return info.role !== 'slave';
    }

    override async connect(
      emit: (type: string, error: Error) => void,
    ): ReturnType<AbstractConnector['connect']> {
      this.connecting = true;
      const owner = await this.#findOwner(emit);
      this.stream = tls === undefined ? createConnection({ ...owner }) : connectTls({ ...tls, ...owner });
      this.stream.once('error', (error) => {
        this.firstError = error;
      });
      return this.stream;
    }

    /** Queries one node after the other, each time from another first node: a node may be partitioned without knowing it. */
    async #findOwner(emit: (type: string, error: Error) => void): Promise<ClusterNode> {
      for (let failures = 0; ; failures += 1) {
        const node = this.#nodes[this.#nextNode++ % this.#nodes.length];
        try {
          if (node === undefined) throw new TypeError('a cluster has at least one node');
          const { owner, nodes } = await ownerAccordingTo(node, settings, tag);
          if (this.connecting) {
            this.#nodes = nodes;
            return owner;
          }
        } catch (thrown) {
          emit('error', thrown instanceof Error ? thrown : new Error(String(thrown)));
        }
        if (this.connecting && (failures + 1) % this.#nodes.length === 0) {
          await wait(Math.min(100 * (failures + 1), ROUND_MS));
        }
        if (!this.connecting) throw new Error('Connection is closed.');
      }
    }
  };
}

/** Queries one node which master has the tag's slot, and which nodes there are. */
async function ownerAccordingTo(
  node: ClusterNode,
  { nodes: seeds, username, password, tls }: ClusterSettings,
  tag: string,
): Promise<{ owner: ClusterNode; nodes: readonly ClusterNode[] }> {
  const client = new Redis({
    ...node,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: NODE_MS,
    commandTimeout: NODE_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: unknown;
  client.on('error', (error) => {
    reason = error;
  });
  try {
    await client.connect();
    const [slot, reply] = await Promise.all([client.cluster('KEYSLOT', `{${tag}}`), client.cluster('SLOTS')]);
    const ranges = Slots.parse(reply);
    const toNode = ([host, port]: readonly [string | null, ...unknown[]]): ClusterNode => ({
      // A node that does not know its own name is at the address that was used.
      host: host === null || host === '' ? node.host : host,
      port: Number(port),
    });
    const master = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2];
    if (master === undefined) throw new Error(`no node of the cluster has slot ${slot}`);
    const known = [...seeds, ...ranges.flatMap(([, , ...servers]) => servers.map(toNode))];
    const distinct = new Map(known.map((server) => [`${server.host}:${server.port}`, server]));
    return { owner: toNode(master), nodes: [...distinct.values()] };
  } catch (thrown) {
    throw reason ?? thrown;
  } finally {
    client.disconnect();
  }
}

/** Whether an answer says that the slot of the command has moved to another node, or that this one is a replica now. */
export function isRedirection(error: Error): boolean {
  return /^(MOVED \d+ |READONLY )/.test(error.message);
}
