/** What the set-up cannot do by itself; the message says what to do by hand. */
export class SetupError extends Error {}

/** @param {string} line Progress for people; standard output stays free for a command's own result. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}
