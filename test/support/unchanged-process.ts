/** Test files share their process: each must leave its environment and its working directory as it found them. */
import { afterAll, expect } from 'vitest';

const { env } = process;
const found = { variables: { ...env }, folder: process.cwd() };

afterAll(() => {
  // Node reads the variables of the process, not those of an object that replaced it.
  expect(process.env).toBe(env);
  expect({ variables: { ...env }, folder: process.cwd() }).toEqual(found);
});
