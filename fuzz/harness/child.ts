/** The process in which the inputs of one target run: it receives an input, runs it and reports the result. */
import type { Input, Target } from '../target.js';
import { MAX_OVERRUN, maxCpuMs } from './bounds.js';
import { checkInput } from './check-input.js';
import { Watchdog } from './watchdog.js';

export interface Order {
  readonly input: Input;
  readonly twice: boolean;
}

/** Arguments of the process. */
export interface ChildOptions {
  readonly name: string;
  /** URL of the module with the target in `TARGETS`. */
  readonly module: string;
  /** Processor time that an input of ordinary size may take, in milliseconds. */
  readonly ordinaryMs: number;
}

const { name, module, ordinaryMs }: ChildOptions = JSON.parse(process.argv[2] ?? '{}');
const { TARGETS }: { readonly TARGETS: readonly Target[] } = await import(module);
const target = TARGETS.find((each) => each.name === name);
if (target === undefined) throw new Error(`there is no target ${name}`);
const subject = await target.open();
const watchdog = new Watchdog();

process.on('message', async ({ input, twice }: Order) => {
  const run = () => checkInput(target, subject, input, twice, ordinaryMs);
  process.send?.(await watchdog.guard(MAX_OVERRUN * (target.tasks ?? 1) * maxCpuMs(input, ordinaryMs), run));
});
process.on('disconnect', async () => {
  await subject.close?.();
  process.exit(0);
});
process.send?.('ready');
