/** The program that a worker starts for jobs in whose runs a worker died; it is configured as its worker is. */
import { chooseRunner, createRunner } from '../agents/select-runner.js';
import { configuredControl } from '../calls/configured-control.js';
import { loadConfig } from '../config/load-config.js';
import { serveQuarantine } from '../fleet/quarantine/serve-quarantine.js';

serveQuarantine(async () => {
  const config = loadConfig();
  return {
    runner: await createRunner(config, chooseRunner(config.agent)),
    calls: { ...configuredControl(config), prefix: config.prefix },
  };
});
