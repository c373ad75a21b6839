import { writeFileSync } from 'node:fs';

/** Leaves a list of the test files with the seconds and the processor seconds of each, imports and hooks counted in. */
export default class FileSecondsReporter {
  onTestRunEnd(modules) {
    const path = process.env.TEST_SECONDS_FILE;
    if (path === undefined) throw new Error('TEST_SECONDS_FILE names the file for the list');
    const list = modules.map((module) => {
      const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } =
        module.diagnostic();
      const ms = environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration;
      return { file: module.moduleId, seconds: ms / 1_000, cpuSeconds: module.meta().cpuSeconds ?? 0 };
    });
    writeFileSync(path, JSON.stringify(list));
  }
}
