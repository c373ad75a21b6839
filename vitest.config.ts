import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is waited for comes by itself, and late on a busy machine; a second, the default, is too short there.
    expect: { poll: { timeout: 30_000 } },
    // Each file talks to its own Redis and its own child processes; two at once is what two cores carry.
    maxWorkers: 2,
    pool: 'forks',
  },
});
