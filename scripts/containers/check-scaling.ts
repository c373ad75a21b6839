import { execa } from 'execa';
import { FleetHttpClient } from '../../src/http-client/fleet-http-client.js';
import { packagePath } from '../../src/package-root.js';
import { must, type Report } from '../testing/checks.js';
import type { Project } from './project.js';
import { scriptOf } from './provider.js';

const JOBS = 200;
const MOST = 6;

/** `deploy/scale-workers.sh`: scaling without Kubernetes. */
export async function checkScaling(report: Report, project: Project, token: string): Promise<void> {
  const scale = async () => {
    await execa(packagePath('deploy', 'scale-workers.sh'), ['1', String(MOST)], {
      env: {
        ...project.docker.environment,
        ONCE: '1',
        FLEET_TOKEN: token,
        FLEET_GATEWAY_URL: project.gatewayUrl,
        FLEET_CONCURRENCY: '5',
        COMPOSE_COMMAND: project.command,
      },
      extendEnv: false,
    });
    return (await project.containers('worker')).filter(({ state }) => state === 'running').length;
  };

  await report.check(
    'deploy/scale-workers.sh adds workers for waiting jobs, and takes them away afterwards',
    async () => {
      const client = new FleetHttpClient({ url: project.gatewayUrl, token });
      const before = await scale();
      must(before === 1, `${before} workers for no jobs`);
      const answers = await client.addBatch(
        Array.from({ length: JOBS }, (_, at) => ({
          kind: 'solution-check' as const,
          payload: { solution: { content: scriptOf(`scaled_${at}`) } },
        })),
      );
      const busy = await scale();
      must(busy === MOST, `${busy} workers for ${JOBS} jobs`);
      for (const answer of answers) {
        must(!('error' in answer), 'a job was refused');
        must((await client.wait(answer.id)).state === 'completed', answer.id);
      }
      const after = await scale();
      must(after === 1, `${after} workers are left`);
      return undefined;
    },
  );
}
