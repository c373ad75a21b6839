import type { Argument, Call } from '../../syntax/ast.js';
import type { TextEdit } from '../context.js';

/** The argument of a call by its keyword. */
export function keyword({ args }: Call, name: string): Argument | undefined {
  return args.find((argument) => argument.name === name);
}

/** Whether an argument is written out as one of these values. */
export function isConstant(argument: Argument | undefined, ...values: readonly unknown[]): boolean {
  return argument?.value.type === 'constant' && values.includes(argument.value.value);
}

/** A keyword argument becomes this text. */
export function replacedArgument(source: string, call: Call, argument: Argument, text: string): TextEdit {
  return { start: startOf(source, call, argument), end: argument.value.end, text };
}

/** A keyword argument goes, with the comma before it, or after it if it is the first one. */
export function removedArgument(source: string, call: Call, argument: Argument): TextEdit {
  const at = call.args.indexOf(argument);
  const [before, after] = [call.args[at - 1], call.args[at + 1]];
  if (before !== undefined) return { start: before.value.end, end: argument.value.end, text: '' };
  const start = startOf(source, call, argument);
  return { start, end: after === undefined ? argument.value.end : startOf(source, call, after), text: '' };
}

function startOf(source: string, call: Call, { name, value }: Argument): number {
  if (name === undefined) return value.start;
  return call.start + source.slice(call.start, value.start).lastIndexOf(name);
}
