import type { Call, Expr, Module, Stmt } from '../../../syntax/ast.js';
import { calleeName, rootName } from '../../../syntax/walk.js';
import { countWork } from '../../../values/work.js';
import { assignedTo, statementsOfScope } from './assigned-values.js';
import { freeNamesOf } from './free-names.js';

const MAX_STEPS = 8;
const PURE =
  /^(len|list|tuple|dict|set|sorted|range|zip|enumerate|min|max|sum|abs|round|int|float|str|np|numpy|math)$/;
const READS = /^(load|loadtxt|genfromtxt|fromfile|random)$/;

/** Whether a variable certainly holds no value for each row: constants, and what is made of constants, functions and modules. */
export function isNotOfRows(module: Module, name: string, reader: Stmt, step = 0): boolean {
  countWork(1);
  if (step > MAX_STEPS) return false;
  const values = assignedTo(module, name, reader);
  // A function, a class, a module, or one of the functions of Python; a function may set it from inside.
  if (values.length === 0) return !new RegExp(`\\bglobal [^\\n]{0,200}\\b${name}\\b`).test(module.source);
  return values.every((value) => isMadeOfConstants(module, value, reader, step));
}

function isMadeOfConstants(module: Module, value: Expr, reader: Stmt, step: number): boolean {
  if (value.type === 'other') return false;
  if (value.type === 'lambda') return true;
  const isPart = (part: Expr): boolean => isMadeOfConstants(module, part, reader, step + 1);
  switch (value.type) {
    case 'constant':
      return true;
    case 'call':
      if (isOfKeys(module, value, reader)) return true;
      return isPureCall(module, value) && value.args.every((argument) => isPart(argument.value));
    case 'subscript':
      // The number of columns.
      if (value.object.type === 'attribute' && value.object.name === 'shape')
        return value.indices[0]?.type === 'constant' && value.indices[0].value === 1;
      return [value.object, ...value.indices].every(isPart);
    case 'attribute':
      return isPart(value.object);
    case 'sequence':
      return value.items.every(isPart);
    case 'dictionary':
      return value.entries.every((entry) => isPart(entry.value));
    case 'binary':
      return isPart(value.left) && isPart(value.right);
    case 'unary':
      return isPart(value.operand);
    case 'name':
      return isNotOfRows(module, value.id, reader, step + 1);
    default:
      return [...freeNamesOf(value)].every(({ name }) => isNotOfRows(module, name.id, reader, step + 1));
  }
}

/** `len(models)`, `list(models)` of a dictionary that is written out: its keys alone. */
export function isOfKeys(module: Module, call: Call, reader: Stmt): boolean {
  const [keys, ...others] = call.args;
  if (!/^(len|list|tuple|sorted)$/.test(calleeName(call)) || others.length > 0 || keys?.value.type !== 'name')
    return false;
  const [made, ...more] = assignedTo(module, keys.value.id, reader);
  return made?.type === 'dictionary' && more.length === 0;
}

/** `np.arange(0, 1, 0.1)`, `list(models)`, `LGBMRegressor(n_estimators=500)` */
function isPureCall(module: Module, call: Call): boolean {
  const name = calleeName(call);
  const root = rootName(call.callee) ?? '';
  if (READS.test(name) || /\.random\b/.test(module.source.slice(call.callee.start, call.callee.end)))
    return false;
  if (PURE.test(root)) return true;
  const isClass = /^[A-Z]/.test(name) && name !== 'DataFrame' && name !== 'Series';
  return isClass || (call.callee.type === 'name' && isPureFunction(module, name));
}

/** A function of the script without parameters that reads nothing but what it makes: `make_models()`. */
function isPureFunction({ body }: Module, name: string): boolean {
  const [definition, ...others] = [...statementsOfScope(body.statements)].filter(
    (statement) => statement.type === 'function' && statement.name === name,
  );
  if (definition?.type !== 'function' || others.length > 0) return false;
  const [only, ...more] = definition.body.statements;
  return (
    more.length === 0 &&
    only?.type === 'return' &&
    only.value !== undefined &&
    /^(dictionary|sequence)$/.test(only.value.type)
  );
}
