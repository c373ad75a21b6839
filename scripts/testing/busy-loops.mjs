import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

const LOOPS_PER_CORE = 4;
/** Ends by itself when the process that started it is gone. */
const LOOP = 'const parent = process.ppid; while (process.ppid === parent) for (let i = 0; i < 1e7; i += 1);';

/** Starts processes that compute without end, four per core. */
export function startBusyLoops() {
  const count = LOOPS_PER_CORE * availableParallelism();
  const loops = Array.from({ length: count }, () =>
    spawn(process.execPath, ['--eval', LOOP], { stdio: 'ignore' }),
  );
  console.log(`${count} busy loops compete for the processor.`);
  return {
    stop() {
      for (const loop of loops) loop.kill('SIGKILL');
    },
  };
}
