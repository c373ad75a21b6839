import type { ScriptSlice } from '../../leakage/slice/slice-script.js';

/** Says what the comments in a slice mean, in words for the agent. */
export function gapsExplained({ marker }: ScriptSlice): string[] {
  return [
    `The text between the script's tags is a part of the script. Each comment \`# (${marker}) lines … left out\` is for lines that the`,
    'scores do not depend on, by their names alone: plots, printed texts, tables and functions that nothing here reads.',
  ];
}
