import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigurationError, RedisError } from '../../src/errors.js';
import { findRedisServer } from '../../src/fleet/embedded-redis-binary.js';
import { checkRedis } from '../../src/fleet/redis-check.js';
import { addJobs } from '../../src/producers/add-jobs.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import { hashTagOf } from '../../src/queues/redis-cluster.js';
import { asRedisError } from '../../src/queues/redis-refusal.js';
import { startTestGateway } from '../gateway/gateway-fixture.js';
import { FleetOnRedis } from './redis-core.js';
import { freePort, RedisProcess, until } from './redis-processes.js';

const CORE = [
  'extract completed',
  'solution-check cancelled',
  'solution-check completed',
  'summarize completed',
];
const RANGES = [
  ['0', '5460'],
  ['5461', '10922'],
  ['10923', '16383'],
] as const;

async function startNode(): Promise<{ node: RedisProcess; bus: number }> {
  const bus = await freePort();
  const node = await RedisProcess.start([
    ...['--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-node-timeout', '1000'],
  ]);
  return { node, bus };
}

/** The node that has the slot of `{fleet}` now, as the cluster itself says. */
async function ownerOf(nodes: readonly RedisProcess[]): Promise<RedisProcess> {
  for (const node of nodes) {
    const answer = await node.ask('GET', '{fleet}').catch(String);
    if (answer === '' || answer === 'null') return node;
  }
  throw new Error('no node has the slot');
}

/** The nodes that are replicas now. */
async function replicasOf(nodes: readonly RedisProcess[]): Promise<RedisProcess[]> {
  const roles = await Promise.all(nodes.map((node) => node.ask('ROLE')));
  return nodes.filter((_, index) => roles[index]?.startsWith('slave'));
}

const version = /v=(\d+)/.exec(execFileSync(findRedisServer(), ['--version'], { encoding: 'utf8' }))?.[1];
const isOld = Number(version) < 7;
if (isOld) process.stderr.write('\nSKIPPED: the cluster of the tests needs a redis-server 7 or newer.\n\n');

describe.skipIf(isOld)('a Redis Cluster of three masters and a replica', () => {
  let nodes: RedisProcess[];
  let replica: RedisProcess;
  let url: string;

  beforeAll(async () => {
    const started = await Promise.all(Array.from({ length: 4 }, startNode));
    nodes = started.map(({ node }) => node);
    const [first, , , last] = nodes;
    if (first === undefined || last === undefined) throw new TypeError('four nodes were expected');
    replica = last;
    for (const [index, range] of RANGES.entries())
      await nodes[index]?.ask('CLUSTER', 'ADDSLOTSRANGE', ...range);
    for (const { node, bus } of started.slice(1)) {
      await first.ask('CLUSTER', 'MEET', '127.0.0.1', String(node.port), String(bus));
    }
    const isWhole = (info: string) => info.includes('cluster_state:ok') && info.includes('known_nodes:4');
    for (const node of nodes) await until(() => node.ask('CLUSTER', 'INFO'), isWhole);
    const owner = await ownerOf(nodes.slice(0, 3));
    await replica.ask('CLUSTER', 'REPLICATE', await owner.ask('CLUSTER', 'MYID'));
    await until(
      () => replica.ask('INFO', 'replication'),
      (info) => info.includes('master_link_status:up'),
    );
    url = `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  });
  afterAll(() => Promise.all(nodes.map((node) => node.stop())));

  it('takes jobs, a cancellation and a flow, whichever node is asked first', async () => {
    // A master of other keys, and the replica.
    const owner = await ownerOf(nodes.slice(0, 3));
    const other = nodes.find((node) => node !== owner && node !== replica);
    for (const [index, node] of [other, replica].entries()) {
      const prefix = `{fleet}-${index}`;
      const fleet = await FleetOnRedis.start(`redis+cluster://127.0.0.1:${node?.port}`, prefix);
      expect(await fleet.runCore()).toEqual(CORE);
      await fleet.close();
    }
  });

  it('goes on after a planned change of the master, and after its death', async () => {
    const fleet = await FleetOnRedis.start(url, '{fleet}');
    const before = await fleet.check('x = 1\n');
    const hasTurned = () => replica.ask('ROLE').then((role) => role.startsWith('master'));

    await replica.ask('CLUSTER', 'FAILOVER');
    await until(hasTurned, Boolean);
    await checkAgain(fleet, 'x = 2\n');

    const former = await ownerOf([replica]);
    await former.kill();
    await checkAgain(fleet, 'x = 3\n');
    expect(await fleet.check('x = 4\n')).not.toBe(before);
    await fleet.close();
    await former.start();
    // The former master is the replica now; the next test needs it up to date.
    await until(
      () => former.ask('INFO', 'replication'),
      (info) => info.includes('master_link_status:up'),
    );
  });

  it('loses no job of many when the master changes in the middle', async () => {
    const fleet = await FleetOnRedis.start(url, '{fleet}-many');
    const items = Array.from({ length: 40 }, (_, index) => ({
      kind: 'solution-check' as const,
      payload: { solution: { content: `x = ${index}\n` } },
    }));
    const outcomes = await addJobs(fleet.fleet, items);
    const ids = outcomes.flatMap((outcome) => ('handle' in outcome ? [outcome.handle.id] : []));
    expect(ids).toHaveLength(items.length);
    const ends = Promise.all(ids.map((id) => waitForJob(fleet.fleet, id)));
    const [next] = await replicasOf(nodes);
    await next?.ask('CLUSTER', 'FAILOVER');
    expect((await ends).filter(({ state }) => state !== 'completed')).toEqual([]);
    expect(await next?.ask('ROLE')).toMatch(/^master/);
    await fleet.close();
  });

  it('serves the gateway as well: submitting, waiting, events and metrics', async () => {
    const fleet = await FleetOnRedis.start(url, '{fleet}-gateway');
    const gateway = await startTestGateway({ url }, '{fleet}-gateway');
    const { json } = await gateway.send('POST', '/v1/jobs/solution-check?wait=30s', {
      payload: { solution: { content: 'x = 1\n' } },
    });
    expect(json).toMatchObject({ state: 'completed', result: { status: 'clean' } });
    const { text } = await gateway.send('GET', '/metrics');
    expect(text).toMatch(/^fleet_workers\{kind="solution-check"\} 1$/m);
    await gateway.close();
    await fleet.close();
  });

  it('refuses a prefix whose keys lie elsewhere, and takes another tag by name', async () => {
    const open = (redisUrl: string, prefix: string) => FleetClient.open({ redisUrl, prefix });
    await expect(open(url, 'fleet')).rejects.toThrow(ConfigurationError);
    await expect(open(url, '{other}')).rejects.toThrow('set FLEET_PREFIX to {fleet}');
    const fleet = await FleetOnRedis.start(`${url}?tag=other`, '{other}');
    expect(await fleet.runCore()).toEqual(CORE);
    await fleet.close();
  });

  it('is refused under the address of a single server, and a single server under its own', async () => {
    const port = nodes[0]?.port;
    await expect(checkRedis(`redis://127.0.0.1:${port}`)).rejects.toThrow('is a node of a cluster');
    const single = await RedisProcess.start();
    await expect(checkRedis(`redis+cluster://127.0.0.1:${single.port}`, { timeoutMs: 500 })).rejects.toThrow(
      'no node of a cluster',
    );
    await single.stop();
  });
});

/** Submits again while there is no master, as a producer is told to. */
async function checkAgain(fleet: FleetOnRedis, content: string): Promise<void> {
  await until(
    () =>
      fleet.check(content).then(
        () => true,
        (thrown: unknown) => {
          const error = asRedisError(thrown);
          if (error instanceof RedisError && error.code === 'redis-unreachable') return false;
          throw error;
        },
      ),
    Boolean,
  );
}

describe('hashTagOf', () => {
  it.each([
    ['{fleet}:a', 'fleet'],
    ['x{fleet}y{z}', 'fleet'],
    ['{}{fleet}', undefined],
    ['fleet', undefined],
    ['{fleet', undefined],
    ['{{a}}', '{a'],
  ])('of %s is %s', (key, tag) => {
    expect(hashTagOf(key)).toBe(tag);
  });
});
