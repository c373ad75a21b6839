import { statementsIn } from '../../syntax/walk.js';
import { countText } from '../../values/work.js';
import type { RepairContext } from '../context.js';

/** The module that a variable's constructor is imported from. */
export function importOf({ source, module }: RepairContext, name: string): string | undefined {
  countText(source.length);
  const made = [...source.matchAll(new RegExp(`(?<![\\w.])${name}\\s*=\\s*(\\w+)(?!\\w)[\\w.]*\\(`, 'g'))];
  const [maker, ...others] = new Set(made.map(([, root]) => root));
  if (others.length > 0) return undefined;
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (statement.type !== 'import') continue;
      const binding = statement.bindings.find((one) => one.name === maker);
      if (binding !== undefined) return binding.path;
    }
  }
  return undefined;
}
