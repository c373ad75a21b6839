import type { OperationExamples } from './example.js';

const healthy = { status: 200, answer: { status: 'ok', redis: 'ok' } };

export const SERVICE_EXAMPLES: OperationExamples = {
  health: healthy,
  readiness: healthy,
  metrics: {
    status: 200,
    answer:
      '# HELP fleet_jobs_total Jobs that ended, by outcome; reason is the error code of failed ones.\n# TYPE fleet_jobs_total counter\nfleet_jobs_total{kind="solution-check",outcome="completed",reason=""} 12\n',
  },
  openapi: {
    status: 200,
    answer: { openapi: '3.1.0', info: { title: 'solution-fleet', version: '1' }, paths: {} },
  },
};
