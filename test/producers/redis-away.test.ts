import { expect, it } from 'vitest';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { startTestRedis } from '../support/redis.js';

it('a pipeline that listens for the end of a job can close its connection while Redis is away', async () => {
  const redis = await startTestRedis();
  try {
    const fleet = await FleetClient.open({ redisUrl: redis.url, prefix: 'leaving' });
    const handle = await addSolutionCheck(fleet, { solution: { content: 'x = 1\n' } });
    await fleet.events('solution-check').listen(handle.id, () => undefined);
    await redis.kill();
    const { client } = fleet;
    await expect.poll(() => client.status).toBe('reconnecting');
    await fleet.close();
    await expect.poll(() => client.status).toBe('end');
    // Not an error of the connection.
    const late = addSolutionCheck(fleet, { solution: { content: 'x = 1\n' } });
    await expect(late).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('is closed'),
    });
  } finally {
    await redis.stop();
  }
});
