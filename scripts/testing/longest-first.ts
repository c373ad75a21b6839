// The order in which test files start. What waits longest starts first: started last, it would be waited for alone.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longer than all others, mostly by waiting, the longest first. */
const LONGEST = [
  'outages/refused-writes',
  'chaos/chaos',
  'calls/worker-faults',
  'deploy/redis-cluster',
  'calls/killed-its-worker',
  'deploy/container-commands',
  'fleet/isolated-process',
  'field-reports/crashes',
  'fleet/worker-process',
  'fleet/reconnect',
  'gateway/evaluations',
  'clients/python-evaluations',
  'calls/jobs-and-the-ledger',
  'examples/pipelines',
  'fleet/full-redis',
  'calls/unusable-in-the-middle',
  'cli/lost-redis',
  'gateway/pages',
  'field-reports/stopping',
  'package/pack',
  'fleet/embedded-redis',
].map((name) => fileURLToPath(new URL(`../../test/${name}.test.ts`, import.meta.url)));

const missing = LONGEST.filter((path) => !existsSync(path));
if (missing.length > 0) throw new Error(`there are no such tests: ${missing.join(', ')}`);

export class LongestFirst extends BaseSequencer {
  /** A run that knows how long each file took sorts by that; the first one on a machine does not know. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) =>
      LONGEST.includes(moduleId) ? LONGEST.indexOf(moduleId) : LONGEST.length;
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}
