/**
 * `npm run soak [-- --only NAME,NAME] [--list]`: situations of docs/field-reports.md that depend on time, at their full
 * length and with the settings that a fleet has by default. Prints a line for each case; exit code 1 if one failed.
 */
import { parseArgs } from 'node:util';
import { messageOf } from '../../src/errors.js';
import { SOAK_CASES } from './cases/all.js';
import { type SoakCase, SoakEnvironment } from './soak-case.js';

const { values } = parseArgs({ options: { only: { type: 'string' }, list: { type: 'boolean' } } });
const names = values.only?.split(',');
const unknown = names?.filter((name) => !SOAK_CASES.some((known) => known.name === name)) ?? [];
if (unknown.length > 0 || values.list) {
  if (unknown.length > 0) process.stderr.write(`there is no case ${unknown.join(', ')}; there are:\n`);
  for (const { name, about, limitSeconds } of SOAK_CASES) {
    process.stdout.write(`${name}: ${about} (at most ${limitSeconds} s)\n`);
  }
  process.exit(values.list ? 0 : 2);
}

/** Why the case failed; undefined if it passed. */
async function failureOf(soakCase: SoakCase): Promise<string | undefined> {
  const environment = await SoakEnvironment.open(`soak-${soakCase.name}`);
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    const late = () => reject(new Error(`it was not over after ${soakCase.limitSeconds} s`));
    timer = setTimeout(late, soakCase.limitSeconds * 1_000);
  });
  try {
    await Promise.race([soakCase.run(environment), limit]);
    return undefined;
  } catch (thrown) {
    return messageOf(thrown);
  } finally {
    clearTimeout(timer);
    await environment.close();
  }
}

let broken = 0;
for (const soakCase of SOAK_CASES.filter(({ name }) => names?.includes(name) ?? true)) {
  const started = performance.now();
  const failure = await failureOf(soakCase);
  const took = Math.round((performance.now() - started) / 1_000);
  if (failure !== undefined) broken += 1;
  const label = failure === undefined ? 'pass' : 'FAIL';
  const rest = failure === undefined ? soakCase.about : `${soakCase.about}: ${failure}`;
  process.stdout.write(`${label} ${soakCase.name} ${took} s: ${rest}\n`);
}
// A case that exceeded its time may still wait for something: it must not keep the process alive.
process.exit(broken > 0 ? 1 : 0);
