import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { Deployment } from 'kubernetes-models/apps/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { SETTINGS } from '../../src/config/settings.js';
import { packagePath } from '../../src/package-root.js';
import { KINDS } from '../../src/queues/registry.js';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const FOLDER = packagePath('deploy', 'kubernetes');

/** Each kind of resource: how it is validated, and the module and name of its type. */
const RESOURCES = {
  Deployment: {
    validate: (data: never) => new Deployment(data).validate(),
    type: ['kubernetes-models/apps/v1', 'IDeployment'],
  },
  Service: {
    validate: (data: never) => new Service(data).validate(),
    type: ['kubernetes-models/v1', 'IService'],
  },
  PodDisruptionBudget: {
    validate: (data: never) => new PodDisruptionBudget(data).validate(),
    type: ['kubernetes-models/policy/v1', 'IPodDisruptionBudget'],
  },
  NetworkPolicy: {
    validate: (data: never) => new NetworkPolicy(data).validate(),
    type: ['kubernetes-models/networking.k8s.io/v1', 'INetworkPolicy'],
  },
  ScaledObject: {
    validate: (data: never) => new ScaledObject(data).validate(),
    type: ['@kubernetes-models/keda/keda.sh/v1alpha1', 'IScaledObject'],
  },
} as const;

const Resource = z.looseObject({
  kind: z.enum(Object.keys(RESOURCES) as [keyof typeof RESOURCES]),
  metadata: z.looseObject({ name: z.string() }),
});
type Resource = z.infer<typeof Resource>;

const kustomization = z
  .object({
    resources: z.array(z.string()),
    images: z.array(z.object({ name: z.string(), newTag: z.string() })),
  })
  .parse(parse(readFileSync(join(FOLDER, 'kustomization.yaml'), 'utf8')));
const resources = kustomization.resources.flatMap((file) =>
  parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map((document) => {
    expect(document.errors).toEqual([]);
    return Resource.parse(document.toJS());
  }),
);

const Workload = z.object({
  spec: z.object({
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.looseObject({
        terminationGracePeriodSeconds: z.number(),
        containers: z.tuple([
          z.looseObject({
            name: z.string(),
            image: z.string(),
            args: z.array(z.string()),
            env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
          }),
        ]),
      }),
    }),
  }),
});

function named(kind: Resource['kind'], name: string): Resource {
  const found = resources.find((resource) => resource.kind === kind && resource.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

function workload(name: string) {
  const { template } = Workload.parse(named('Deployment', name)).spec;
  const [container] = template.spec.containers;
  const env = Object.fromEntries(container.env.map((entry) => [entry.name, entry.value]));
  return { labels: template.metadata.labels, pod: template.spec, container, env };
}

/** What the TypeScript compiler says about resources held against the types of their kinds: unknown fields as well. */
function typeProblems(data: readonly Resource[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'kubernetes-'));
  symlinkSync(packagePath('node_modules'), join(folder, 'node_modules'));
  const lines = data.map((resource, index) => {
    const [module, type] = RESOURCES[resource.kind].type;
    return `export const r${index}: import('${module}').${type} = ${JSON.stringify(resource, null, 1)};`;
  });
  writeFileSync(join(folder, 'resources.ts'), lines.join('\n'));
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: 'nodenext',
    preserveSymlinks: true,
    types: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['resources.ts'] }));
  const { stdout } = spawnSync(
    packagePath('node_modules', '.bin', 'tsc'),
    ['--checkers', '1', '-p', folder],
    {
      encoding: 'utf8',
    },
  );
  return stdout;
}

describe('deploy/kubernetes', () => {
  it('names all its files in the kustomization, and the version of the package', () => {
    expect([...kustomization.resources, 'kustomization.yaml'].sort()).toEqual(readdirSync(FOLDER).sort());
    const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string };
    expect(kustomization.images).toEqual([{ name: 'solution-fleet', newTag: version }]);
  });

  it.each(resources.map((resource) => [`${resource.kind} ${resource.metadata.name}`, resource] as const))(
    '%s fits the schema of its kind',
    (_, resource) => {
      expect(() => RESOURCES[resource.kind].validate(resource as never)).not.toThrow();
    },
  );

  it('has no field that its kinds do not know', () => {
    expect(typeProblems(resources)).toBe('');
    const wrong = { ...named('Deployment', 'solution-fleet-worker'), specc: {} };
    expect(typeProblems([wrong])).toContain('specc');
  });

  it.each(['solution-fleet-worker', 'solution-fleet-gateway'])(
    '%s runs without root, privileges, service account or a writable root file system',
    (name) => {
      const { pod, container } = workload(name);
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(container).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [{ mountPath: '/tmp' }],
      });
    },
  );

  it('gives a stopping worker the drain and a minute, with settings that the fleet reads', () => {
    const { pod, env } = workload('solution-fleet-worker');
    expect(pod.terminationGracePeriodSeconds).toBe(Number(env.FLEET_DRAIN_SECONDS) + 60);
    const known = Object.values(SETTINGS).map(({ variable }) => variable as string);
    expect(Object.keys(env).filter((variable) => !known.includes(variable))).toEqual([]);
  });

  it('lets workers and gateway reach what they need: names, Redis, a collector of traces, and workers the provider', () => {
    const Rule = z.object({ ports: z.array(z.object({ protocol: z.string(), port: z.number() })) });
    const reached = (name: string) =>
      z
        .object({ egress: z.array(Rule) })
        .parse(named('NetworkPolicy', name).spec)
        .egress.flatMap(({ ports }) => ports.map(({ protocol, port }) => `${protocol} ${port}`));
    const both = ['UDP 53', 'TCP 53', 'TCP 6379', 'TCP 4317', 'TCP 4318'];
    expect(reached('solution-fleet-gateway')).toEqual(both);
    expect(reached('solution-fleet-worker')).toEqual([...both, 'TCP 443']);
  });

  it('gives every policy and budget the pods that are there', () => {
    const labels = ['worker', 'gateway'].map((part) => workload(`solution-fleet-${part}`).labels);
    for (const { kind, metadata, spec } of resources) {
      if (kind !== 'NetworkPolicy' && kind !== 'PodDisruptionBudget') continue;
      const { podSelector, selector } = z
        .object({ podSelector: z.looseObject({}).optional(), selector: z.looseObject({}).optional() })
        .parse(spec);
      expect([metadata.name, labels]).toEqual([
        metadata.name,
        expect.arrayContaining([(podSelector ?? selector)?.matchLabels]),
      ]);
    }
  });
});

describe('the scaling of the workers', () => {
  const { scaleTargetRef, triggers } = z
    .object({
      scaleTargetRef: z.object({ name: z.string() }),
      triggers: z.tuple([
        z.object({
          type: z.literal('prometheus'),
          metadata: z.object({ query: z.string(), threshold: z.string(), ignoreNullValues: z.string() }),
        }),
      ]),
    })
    .parse(named('ScaledObject', 'solution-fleet-worker').spec);
  let redis: TestRedis;
  let gateway: TestGateway;
  beforeAll(async () => {
    redis = await startTestRedis();
    gateway = await startTestGateway(redis, 'scaling');
  });
  afterAll(async () => {
    await gateway.close();
    await redis.stop();
  });

  it('goes by a metric that the gateway serves for every kind, jobs in priority order among them', async () => {
    const metric = /^max\((fleet_[a-z_]+)\)$/.exec(triggers[0].metadata.query)?.[1];
    const load = async () => {
      const { text } = await gateway.send('GET', '/metrics');
      return new Map(
        [...text.matchAll(new RegExp(`^${metric}\\{kind="([^"]+)"\\} (\\d+)$`, 'gm'))].map(
          ([, kind, value]) => [kind, Number(value)] as const,
        ),
      );
    };
    expect([...(await load()).keys()].sort()).toEqual(Object.keys(KINDS).sort());
    const job = (content: string) => ({ payload: { solution: { content } } });
    await gateway.send('POST', '/v1/jobs/solution-check', job('x = 1\n'));
    await gateway.send('POST', '/v1/jobs/solution-check', { ...job('x = 2\n'), priority: 5 });
    expect((await load()).get('solution-check')).toBe(2);
  });

  it('adds a worker for as many jobs of a kind as one runs at once', () => {
    expect(scaleTargetRef.name).toBe('solution-fleet-worker');
    expect(triggers[0].metadata.threshold).toBe(workload('solution-fleet-worker').env.FLEET_CONCURRENCY);
    expect(triggers[0].metadata.ignoreNullValues).toBe('false');
  });
});
