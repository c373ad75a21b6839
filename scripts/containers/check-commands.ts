import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packagePath } from '../../src/package-root.js';
import { must, type Report } from '../testing/checks.js';
import { IMAGE } from './check-image.js';
import type { Docker } from './docker.js';
import { scriptOf } from './provider.js';

/** Commands that need nothing but `docker run`. */
export async function checkCommands(report: Report, docker: Docker, providerUrl: string): Promise<void> {
  const leaky = readFileSync(packagePath('examples', 'scripts', 'leaky_scaler.py'), 'utf8');

  await report.check('docker run solution-fleet --help', async () => {
    const text = await docker.run(['run', '--rm', IMAGE, '--help']);
    must(text.includes('Usage: fleet') && text.includes('worker'), text);
    return undefined;
  });

  await report.check('docker run -i solution-fleet check - < script.py', async () => {
    const { stdout, exitCode } = await docker.try(['run', '--rm', '-i', IMAGE, 'check', '--json', '-'], {
      input: leaky,
    });
    const [entry] = JSON.parse(stdout) as { status?: string; result?: { status?: string } }[];
    must(exitCode === 1 && JSON.stringify(entry).includes('"corrected"'), `exit ${exitCode}: ${stdout}`);
    return undefined;
  });

  await report.check('the same with a key asks the model', async () => {
    const key = ['-e', 'ANTHROPIC_API_KEY=test-key', '-e', `ANTHROPIC_BASE_URL=${providerUrl}`];
    const options = { input: scriptOf('command') };
    const { stdout, stderr, exitCode } = await docker.try(
      ['run', '--rm', '-i', ...key, IMAGE, 'check', '-'],
      options,
    );
    must(exitCode === 0 && stdout.includes('clean') && stderr.includes('anthropic'), `${stdout}\n${stderr}`);
    return undefined;
  });

  await report.check('docker run -v "$PWD:/work" -w /work solution-fleet check script.py', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mounted-'));
    // The user of the image is not the owner.
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'script.py'), leaky, { mode: 0o644 });
    const mount = ['-v', `${folder}:/work`, '-w', '/work'];
    const { stdout, exitCode } = await docker.try(['run', '--rm', ...mount, IMAGE, 'check', 'script.py']);
    must(exitCode === 1 && stdout.includes('script.py'), `exit ${exitCode}: ${stdout}`);
    return undefined;
  });

  await report.check('docker run solution-fleet demo', async () => {
    const text = await docker.run(['run', '--rm', IMAGE, 'demo']);
    must(text.includes('guarded evaluation'), text);
    return undefined;
  });

  for (const args of [
    [],
    ['serve'],
    ['token', 'add', 'somebody'],
    ['submit', 'solution-check', '--data', '-'],
  ]) {
    await report.check(
      `without FLEET_REDIS_URL "${args.join(' ') || 'worker'}" refuses to start`,
      async () => {
        const { stderr, exitCode } = await docker.try(['run', '--rm', '-i', IMAGE, ...args], {
          input: '{"solution":{"content":"x = 1\\n"}}',
        });
        must(exitCode === 2 && stderr.includes('FLEET_REDIS_URL: is not set'), `exit ${exitCode}: ${stderr}`);
        return undefined;
      },
    );
  }

  await report.check('FLEET_AGENT=anthropic without a key starts no worker', async () => {
    const settings = ['-e', 'FLEET_AGENT=anthropic', '-e', 'FLEET_REDIS_URL=redis://127.0.0.1:1'];
    const { stderr, exitCode } = await docker.try(['run', '--rm', ...settings, IMAGE]);
    must(exitCode === 2 && stderr.includes('ANTHROPIC_API_KEY'), `exit ${exitCode}: ${stderr}`);
    return undefined;
  });
}
