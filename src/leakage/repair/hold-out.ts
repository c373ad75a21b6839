import type { Import, Stmt } from '../syntax/ast.js';
import { freshName, type RepairContext } from './context.js';

/** Lines that divide the training rows once more, and the names of the four parts. */
export interface HoldOut {
  readonly fitX: string;
  readonly stopX: string;
  readonly fitY: string;
  readonly stopY: string;
  readonly lines: readonly string[];
  /** Indentation of the statement that the lines come before. */
  readonly indent: string;
}

/** Holds a tenth of the training rows out before a statement; nothing where that shares its line. */
export function holdOut(context: RepairContext, before: Stmt, x: string, y: string): HoldOut | undefined {
  const { source } = context;
  const lineStart = source.lastIndexOf('\n', before.start - 1) + 1;
  const indent = source.slice(lineStart, before.start);
  if (/\S/.test(indent)) return undefined;
  const [fitX, stopX, fitY, stopY] = [
    freshName(source, 'fit_x'),
    freshName(source, 'stop_x'),
    freshName(source, 'fit_y'),
    freshName(source, 'stop_y'),
  ];
  const divide = `${fitX}, ${stopX}, ${fitY}, ${stopY} = train_test_split(${x}, ${y}, test_size=0.1, random_state=0)`;
  const isImported = context.module.body.statements.some(
    (statement) =>
      statement.type === 'import' &&
      (statement as Import).bindings.some((binding) => binding.name === 'train_test_split'),
  );
  const imports = isImported ? [] : ['from sklearn.model_selection import train_test_split'];
  return { fitX, stopX, fitY, stopY, lines: [...imports, divide], indent };
}
