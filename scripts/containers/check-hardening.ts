import { must, type Report } from '../testing/checks.js';
import type { Project } from './project.js';

const NONE = '0000000000000000';
const HARDENED = `1000 CapEff: ${NONE} CapBnd: ${NONE} NoNewPrivs: 1 read-only`;
const LOOK =
  'id -u; grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/1/status; touch /app/x /x 2>/dev/null || echo read-only';

/** What the engine itself says about the containers of gateway and workers. */
export async function checkHardening(report: Report, project: Project): Promise<void> {
  const { docker } = project;
  await report.check(
    'every gateway and worker runs as user 1000, read-only and without capabilities',
    async () => {
      const containers = [...(await project.containers('gateway')), ...(await project.containers('worker'))];
      for (const { id, name } of containers) {
        const inside = (await docker.run(['exec', id, 'sh', '-c', LOOK])).trim().split(/\s+/).join(' ');
        must(inside === HARDENED, `${name}: ${inside}`);
      }
      return `${containers.length} containers`;
    },
  );

  await report.check(
    'Redis has no published port and a read-only root file system, and no log grows without limit',
    async () => {
      const containers = await project.containers();
      for (const { id, name, service } of containers) {
        const host = await docker.inspect<{
          ReadonlyRootfs: boolean;
          LogConfig: { Config: Record<string, string> };
          PortBindings: Record<string, unknown>;
        }>(id, '.HostConfig');
        must(host.LogConfig.Config['max-size'] !== undefined, `${name}: its log has no limit`);
        if (service !== 'redis') continue;
        must(host.ReadonlyRootfs && Object.keys(host.PortBindings ?? {}).length === 0, JSON.stringify(host));
      }
      return undefined;
    },
  );

  await report.check('Redis refuses jobs when it is full, and drops none', async () => {
    const [redis] = await project.containers('redis');
    must(redis !== undefined, 'it does not run');
    const setting = async (name: string) =>
      (await docker.run(['exec', redis.id, 'redis-cli', 'config', 'get', name])).split('\n')[1];
    const found = [
      await setting('maxmemory'),
      await setting('maxmemory-policy'),
      await setting('appendonly'),
    ];
    must(found.join(' ') === `${2 ** 30} noeviction yes`, found.join(' '));
    return undefined;
  });
}
