#!/usr/bin/env node
// Asks the registry for known vulnerabilities of the packages that are needed to run. Exit code 1 where one is high or
// critical; a registry that gives no answer is reported and fails nothing, since the code is not to blame.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const LEVELS = ['high', 'critical'];
const TIMEOUT_MS = 120_000;

/** What npm says of the production tree, or why it says nothing. */
function audit(extra) {
  const args = ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=30000', ...extra];
  const { stdout, error } = spawnSync('npm', args, { cwd: root, encoding: 'utf8', timeout: TIMEOUT_MS });
  if (error !== undefined) return { reason: error.message };
  let report;
  try {
    report = JSON.parse(stdout);
  } catch {
    return { reason: 'npm audit printed no JSON' };
  }
  if (report.vulnerabilities !== undefined) return { vulnerabilities: Object.values(report.vulnerabilities) };
  return {
    reason: report.message ?? report.error?.summary ?? 'npm audit printed no vulnerabilities and no error',
  };
}

function main(extra) {
  const { reason, vulnerabilities } = audit(extra);
  if (vulnerabilities === undefined) {
    process.stdout.write(`audit: not checked, the registry gave no answer (${reason.split('\n')[0]})\n`);
    return 0;
  }
  const grave = vulnerabilities.filter(({ severity }) => LEVELS.includes(severity));
  for (const { name, severity, range, via } of grave) {
    const titles = via.map((cause) =>
      typeof cause === 'string' ? `through ${cause}` : `${cause.title} ${cause.url}`,
    );
    process.stdout.write(`audit: ${severity}: ${name} ${range}: ${titles.join('; ')}\n`);
  }
  process.stdout.write(
    `audit: ${grave.length} high or critical of ${vulnerabilities.length} known vulnerabilities in packages needed to run\n`,
  );
  return grave.length === 0 ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
