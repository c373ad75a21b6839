import type { FunctionDefinition } from '../syntax/ast.js';
import type { Interpreter } from './interpreter.js';

/** A cell of a marimo notebook: `@app.cell` above a function whose parameters name what other cells define. */
export function isMarimoCell(interp: Interpreter, { decorators }: FunctionDefinition): boolean {
  const imported = interp.global.names.get('marimo')?.value;
  if (imported?.type !== 'library' || imported.path !== 'marimo') return false;
  return decorators.some((decorator) => {
    const named = decorator.type === 'call' ? decorator.callee : decorator;
    return named.type === 'attribute' && named.name === 'cell';
  });
}

/** Runs the cells as marimo does: each after those that define what it reads, all in one scope. */
export function runMarimoCells(interp: Interpreter): void {
  let waiting: readonly FunctionDefinition[] = interp.marimoCells;
  while (waiting.length > 0) {
    const isReady = ({ params }: FunctionDefinition) =>
      params.every(({ name }) => interp.global.names.has(name));
    // What nothing defines is not waited for.
    const next = waiting.find(isReady) ?? waiting[0];
    if (next === undefined) return;
    interp.runBody(next.body);
    waiting = waiting.filter((cell) => cell !== next);
  }
}
