/** The process in which the inputs of one target run: it is told an input, runs it and says what became of it. */

import type { Input } from '../target.js';
import { findTarget } from '../targets/index.js';
import { MAX_OVERRUN, maxCpuMs } from './bounds.js';
import { judgeInput } from './judge-input.js';
import { Watchdog } from './watchdog.js';

export interface Order {
  readonly input: Input;
  readonly twice: boolean;
}

const [name = ''] = process.argv.slice(2);
const target = findTarget(name);
const subject = await target.open();
const watchdog = new Watchdog();

process.on('message', async ({ input, twice }: Order) => {
  const judge = () => judgeInput(target, subject, input, twice);
  process.send?.(await watchdog.guard(MAX_OVERRUN * maxCpuMs(input), judge));
});
process.on('disconnect', async () => {
  await subject.close?.();
  process.exit(0);
});
process.send?.('ready');
