import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';

const LAZY = /from '(@anthropic-ai\/sdk[^']*|openai[^']*|undici|\.\/queues-board\.js)'/;

it('the SDKs of the providers, their HTTP client and the board are loaded when they are first needed, never by an import', () => {
  const statements = readdirSync(packagePath('src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap(
      (name) => readFileSync(packagePath('src', name), 'utf8').match(/^(import|export)\b[^;]*;/gm) ?? [],
    )
    .filter((statement) => LAZY.test(statement));
  expect(statements.length).toBeGreaterThan(0);
  expect(statements.filter((statement) => !statement.startsWith('import type'))).toEqual([]);
});
