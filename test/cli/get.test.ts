import { expect, it, onTestFinished, vi } from 'vitest';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { startFleetProcesses } from '../field-reports/fleet-processes.js';
import { leaks } from '../support/agent-answers.js';
import { fleetCommand } from '../support/fleet-command.js';
import { errorReply } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { WAIT_LIMIT_MS } from '../support/wait-limit-ms.js';

vi.setConfig({ testTimeout: 120_000 });

const redis = redisOfFile();

it('fleet get shows calls whose end nobody knows, with their likely price, and what the job has cost', async () => {
  const { fleet, api, worker, environment, close } = await startFleetProcesses(
    redis,
    'get',
    (_, index) => {
      if (index === 0) return { kind: 'hang' };
      return index === 1 ? leaks() : errorReply(400, 'invalid_request_error');
    },
    { FLEET_DRAIN_SECONDS: '0' },
  );
  onTestFinished(() => close());
  const get = async (id: string) => (await fleetCommand(['get', id], { env: environment })).stdout;
  const handle = await addSolutionCheck(fleet, {
    solution: { content: 'x = 1\n' },
    model: 'claude-sonnet-5-5',
  });
  expect(await get(handle.id)).not.toMatch(/^(calls|unknown)/m);
  const stopped = await worker();
  await api.arrived(1);
  await stopped.end('SIGTERM');
  expect(await get(handle.id)).toMatch(/^in doubt: 1 call \(detect 1\), probably \$0\.\d{4} if billed$/m);
  await worker();
  await handle.result({ timeout: WAIT_LIMIT_MS });
  const shown = await get(handle.id);
  expect(shown).toMatch(/^in doubt: 1 call/m);
  expect(shown).toMatch(/^calls: 1 for \$0\.\d{4}$/m);

  const failing = await addSolutionCheck(fleet, { solution: { content: 'y = 1\n' } });
  await failing.wait({ timeout: WAIT_LIMIT_MS });
  expect(await get(failing.id)).toMatch(
    /^error .* \(bad-request\)\n {6}Read the message of the provider.*\n {6}Failed after 1 attempt\.$/m,
  );
});
