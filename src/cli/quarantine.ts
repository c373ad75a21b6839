/** The program that a worker starts for jobs in whose runs a worker died; it is configured as its worker is. */
import { Redis } from 'ioredis';
import { chooseRunner, createRunner } from '../agents/select-runner.js';
import { callControl } from '../calls/call-control.js';
import { configuredControl } from '../calls/configured-control.js';
import { loadConfig } from '../config/load-config.js';
import { AnalysisThread } from '../fleet/analysis-thread.js';
import { ContaminationThreads } from '../fleet/contamination-threads.js';
import { serveQuarantine } from '../fleet/quarantine/serve-quarantine.js';
import { connectProducer, workerConnection } from '../queues/connection.js';

serveQuarantine(async ({ redisUrl, prefix }) => {
  const config = loadConfig();
  // Waits for a Redis that is away, as the worker's own ledger does.
  const ledger = new Redis(workerConnection(redisUrl));
  const client = await connectProducer(redisUrl);
  // The worker has the same trouble at the same time, and says so.
  for (const connection of [ledger, client]) connection.on('error', () => undefined);
  return {
    runner: await createRunner(config, chooseRunner(config.agent)),
    contamination: new ContaminationThreads(client, { redisUrl, prefix }),
    analysis: new AnalysisThread(),
    calls: callControl(ledger, prefix, { ...configuredControl(config), prefix: config.prefix }),
  };
});
