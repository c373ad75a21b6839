import type { Call, Expr, Module, Stmt } from '../../../syntax/ast.js';
import { calleeName } from '../../../syntax/walk.js';
import { assignedTo, isNamed, statementsOfScope, UNKNOWN_VALUE, valuesFor } from './assigned-values.js';

const IN_ORDER = /^LeaveOneGroupOut$/;
const BY_SEED = /^(Stratified)?(Group)?KFold$/;

/** Whether a splitter leaves each row out once. */
export function leavesEachOut(splitter: Call): boolean {
  const name = calleeName(splitter);
  return BY_SEED.test(name) || IN_ORDER.test(name);
}

/** Whether a splitter divides the same rows in the same way each time, each row being in one of the parts that are left out. */
export function dividesAlike(module: Module, splitter: Call, reader: Stmt): boolean {
  const { args } = splitter;
  if (!leavesEachOut(splitter) || args.some(({ star }) => star !== '')) return false;
  if (args.filter(({ name }) => name === undefined).length > 1) return false;
  const shuffle = args.find(({ name }) => name === 'shuffle')?.value;
  if (shuffle === undefined || (shuffle.type === 'constant' && shuffle.value === false)) return true;
  const seed = args.find(({ name }) => name === 'random_state')?.value;
  return seed !== undefined && isFixedNumber(module, seed, reader);
}

/** A number, or what is a number wherever the script says what it is: `SEED`, `CFG.seed`, `CFG["seed"]`. */
function isFixedNumber(module: Module, expression: Expr, reader: Stmt): boolean {
  if (expression.type === 'constant') return Number.isInteger(expression.value);
  const [value, ...others] = valuesOf(module, expression, reader);
  return others.length === 0 && value?.type === 'constant' && Number.isInteger(value.value);
}

function valuesOf(module: Module, expression: Expr, reader: Stmt): Expr[] {
  if (expression.type === 'name') return assignedTo(module, expression.id, reader);
  if (expression.type !== 'attribute' && expression.type !== 'subscript') return [];
  if (expression.object.type !== 'name') return [];
  const member = expression.type === 'attribute' ? expression.name : keyOf(expression.indices[0]);
  return member === undefined ? [] : membersOf(module, expression.object.id, member);
}

function keyOf(index: Expr | undefined): string | undefined {
  return index?.type === 'constant' && typeof index.value === 'string' ? index.value : undefined;
}

/** What a member of a class, or a key of a dictionary, of the module is assigned. */
function membersOf({ body }: Module, owner: string, member: string): Expr[] {
  return [...statementsOfScope(body.statements)].flatMap((statement) => {
    if (statement.type === 'class' && statement.name === owner)
      return statement.body.statements.flatMap((inner) =>
        inner.type === 'assign'
          ? inner.targets.flatMap((target) => valuesFor(target, inner.value, member))
          : [],
      );
    if (statement.type !== 'assign') return [];
    return statement.targets.flatMap((target) => {
      const isSet =
        (target.type === 'attribute' && target.name === member && isNamed(target.object, owner)) ||
        (target.type === 'subscript' && isNamed(target.object, owner) && keyOf(target.indices[0]) === member);
      if (isSet) return [UNKNOWN_VALUE];
      return isNamed(target, owner) ? entriesOf(statement.value, member) : [];
    });
  });
}

/** `dict(seed=1)`, `{"seed": 1}` */
function entriesOf(value: Expr, key: string): Expr[] {
  if (value.type === 'dictionary')
    return value.entries.flatMap((entry) =>
      entry.key === undefined ? [UNKNOWN_VALUE] : keyOf(entry.key) === key ? [entry.value] : [],
    );
  if (value.type === 'call' && calleeName(value) === 'dict')
    return value.args.flatMap((argument) =>
      argument.star !== '' ? [UNKNOWN_VALUE] : argument.name === key ? [argument.value] : [],
    );
  return [UNKNOWN_VALUE];
}
