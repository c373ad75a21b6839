import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';
import { fleetCommand } from '../support/fleet-command.js';

const FOLDER = packagePath('examples', 'scripts');
const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith('.py'));

/** The status that an example's first lines promise. */
function expectedStatus(name: string): string {
  const text = readFileSync(`${FOLDER}/${name}`, 'utf8');
  const status = /^# Expected: ([a-z-]+)/m.exec(text)?.[1];
  if (status === undefined) throw new Error(`${name} does not say what is expected of it`);
  return status;
}

describe('fleet demo', () => {
  it('has six examples: four leaky, two clean', () => {
    const statuses = NAMES.map(expectedStatus);
    expect(statuses).toHaveLength(6);
    expect(statuses.filter((status) => status === 'clean')).toHaveLength(2);
  });

  it('ends by itself with exit 0 whatever the user has set, and every example comes out as its comment says', async () => {
    // It needs neither the project nor the variables of the user.
    const env = { FLEET_REDIS_URL: 'redis://127.0.0.1:1', FLEET_PREFIX: 'mine' };
    const { stdout, exitCode } = await fleetCommand(['demo'], { env });
    expect(exitCode).toBe(0);
    for (const name of NAMES) expect(stdout).toContain(`\n${name}: ${expectedStatus(name)}\n`);
    expect(stdout).toContain('The most impactful component is OneHotEncoder');
    expect(stdout).toContain('OneHotEncoder(handle_unknown="ignore")');
    expect(stdout).toContain('the evaluating side got leaky_scaler.py corrected, with its corrections');
    expect(stdout).toContain('was not created by addGuardedEvaluation');
  });
});
