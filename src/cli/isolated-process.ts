/** The isolated process of a worker: it runs jobs whose worker crashed, with the configuration of its worker. */
import { chooseRunner, createRunner } from '../agents/select-runner.js';
import { configuredControl } from '../calls/configured-control.js';
import { loadConfig } from '../config/load-config.js';
import { serveIsolatedProcess } from '../fleet/isolation/serve-isolated-process.js';

serveIsolatedProcess(async () => {
  const config = loadConfig();
  return {
    runner: await createRunner(config, chooseRunner(config.agent)),
    calls: { ...configuredControl(config), prefix: config.prefix },
  };
});
