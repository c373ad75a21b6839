import { FIT_METHODS, PREDICT_METHODS } from '../library-models/methods.js';
import type { Span } from './ast.js';
import { fieldOf, namedChildren, type RawNode } from './raw-tree.js';

/** Locations in a script where data can take paths that the analysis does not follow. They are read from the whole syntax tree. */
export interface Landmarks {
  /** Calls that train something, and calls of functions of the script that do. */
  readonly trainings: readonly Span[];
  /** Calls that compute a score, by their names. */
  readonly scorings: readonly Span[];
  /** Whether a score is read from an attribute of a model. */
  readonly readsScore: boolean;
  /** Whether it imports anything. A text that does not is a fragment: it has no library to train a model with. */
  readonly imports: boolean;
  /** Code that hides what it does from anybody who reads names, with the reason to name. */
  readonly hidden: readonly (Span & { readonly reason: string })[];
}

/** Names by which code reaches variables, attributes or code that it does not name. */
const LOOKUPS: ReadonlySet<string> = new Set(
  `globals locals vars setattr delattr exec eval __import__ __main__ builtins ctypes import_module exec_module load_module run_path
  run_module InteractiveConsole InteractiveInterpreter methodcaller attrgetter get_objects get_referrers get_referents currentframe
  _getframe settrace setprofile FunctionType LambdaType CodeType __dict__ __globals__ __builtins__ __getattribute__ __setattr__
  run_cell run_cell_magic run_code safe_execfile user_ns user_global_ns
  __subclasses__ __code__ __closure__ __defaults__ __kwdefaults__ __func__ __mro__ __bases__ __reduce__ __self__`.split(
    /\s+/,
  ),
);

/** Attributes that are often called otherwise: `model.eval()` of a network, `frame.eval(text)`. */
const ONLY_BARE: ReadonlySet<string> = new Set(['eval', 'exec', 'globals', 'locals', 'vars', 'setattr']);

/** Methods that are read as attributes for other reasons: `args.train`. */
const ONLY_CALLED: ReadonlySet<string> = new Set(['train', 'adapt']);

/** Names of functions that score predictions. Those that score clusters have no labels to learn from. */
const SCORING =
  /^(?:score|evaluate|cross_val_\w+|cross_validate|classification_report|confusion_matrix|roc_curve|precision_recall_curve|f1|auc|rmse|mae|mse|(?!silhouette|calinski|davies|adjusted|z_)\w+_(?:score|error|accuracy|auc|rmse))$/i;

const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'none', 'integer', 'float', 'string']);

export function landmarksOf(root: RawNode, source: string): Landmarks {
  const text = (node: RawNode): string => source.slice(node.start, node.end).normalize('NFKC');
  const hidden: (Span & { reason: string })[] = [];
  const calls: { name: string; span: Span }[] = [];
  const imported = new Set<string>();
  let readsScore = false;
  /** By name of a function of the script: what it calls and which functions it holds. */
  const uses = new Map<string, Set<string>>();
  const hide = (node: RawNode, reason: string): void => {
    hidden.push({ start: node.start, end: node.end, reason });
  };
  const open: { node: RawNode; parent: RawNode | undefined; inside: string; isImport: boolean }[] = [
    { node: root, parent: undefined, inside: '', isImport: false },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, parent } = next;
    let { inside, isImport } = next;
    if (/^import_/.test(node.type)) isImport = true;
    if (node.type === 'function_definition') {
      const name = fieldOf(node, 'name');
      const outer = inside;
      inside = name === undefined ? inside : text(name);
      use(uses, outer, inside);
    } else if (node.type === 'call') {
      const callee = fieldOf(node, 'function');
      const name = callee?.type === 'attribute' ? fieldOf(callee, 'attribute') : callee;
      if (name?.type === 'identifier') {
        const called = text(name);
        calls.push({ name: called, span: { start: node.start, end: node.end } });
        use(uses, inside, called);
        if (called === 'getattr' && callee?.type === 'identifier' && !isPlainLookup(node, source)) {
          hide(node, 'an attribute that is looked up by a name made at run time');
        }
      }
    } else if (node.type === 'attribute') {
      const name = fieldOf(node, 'attribute');
      const method = name === undefined ? '' : text(name);
      const isCalled = parent?.type === 'call' && node.field === 'function';
      if (FIT_METHODS.has(method) && !ONLY_CALLED.has(method) && !isCalled) {
        const isTarget = parent?.type === 'assignment' && node.field === 'left';
        hide(
          node,
          isTarget ? `the method ${method} is replaced` : `the method ${method} is handed on, not called`,
        );
      }
      const object = fieldOf(node, 'object');
      if (/^(ex|ev|push|magic|run_line_magic)$/.test(method) && object?.type === 'call') {
        // `%matplotlib` of an exported notebook runs nothing.
        const [of, argument] = [
          source.slice(object.start, object.start + 40),
          source.slice(node.end, node.end + 40),
        ];
        if (
          /get_ipython/.test(of) &&
          !/^\(\s*['"]%?(matplotlib|config|load_ext|autoreload|pip|cd|env)\b/.test(argument)
        ) {
          hide(node, 'code that IPython runs');
        }
      }
      readsScore ||= /^best_score_?$/.test(method);
      if (method === 'modules' && !isCalled) hide(node, 'modules that are looked up at run time');
    } else if (node.type === 'assignment' && replacesMethod(node, imported, text)) {
      hide(node, 'something of a library, or a method of a model, is replaced');
    } else if (node.type === 'identifier') {
      const name = text(node);
      if (isImport) imported.add(name);
      const isAttribute = parent?.type === 'attribute' && node.field === 'attribute';
      const isLabel = node.field === 'name' && parent?.type === 'keyword_argument';
      if (LOOKUPS.has(name) && !isLabel && !(isAttribute && ONLY_BARE.has(name))) {
        hide(node, `names or code that are looked up at run time (${name})`);
      }
    }
    for (const child of node.children.toReversed())
      open.push({ node: child, parent: node, inside, isImport });
  }
  const training = trainingNames(uses);
  const trainings = calls.filter(({ name }) => training.has(name)).map(({ span }) => span);
  const scorings = calls.filter(({ name }) => SCORING.test(name)).map(({ span }) => span);
  scorings.sort((a, b) => a.start - b.start);
  return { trainings, scorings, readsScore, imports: imported.size > 0, hidden };
}

function use(uses: Map<string, Set<string>>, inside: string, name: string): void {
  const users = uses.get(name);
  if (users === undefined) uses.set(name, new Set([inside]));
  else users.add(inside);
}

/** Names of methods that train, and of functions of the script that call such a one, also by others. */
function trainingNames(usersOf: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const names = new Set<string>(FIT_METHODS);
  // A set is walked in the order of insertion, with what is added on the way.
  for (const name of names) for (const user of usersOf.get(name) ?? []) if (user !== '') names.add(user);
  return names;
}

/** `getattr(thing, "name")` with a name that is there and is not a method that trains. */
function isPlainLookup(call: RawNode, source: string): boolean {
  const args = fieldOf(call, 'arguments');
  const name = args === undefined ? undefined : namedChildren(args)[1];
  if (name?.type !== 'string') return false;
  const literal = source.slice(name.start, name.end);
  const plain = /^['"]([A-Za-z_]\w*)['"]$/.exec(literal)?.[1];
  return plain !== undefined && !FIT_METHODS.has(plain) && !LOOKUPS.has(plain);
}

/** An assignment to an attribute of something imported, or to a method that predicts. */
function replacesMethod(
  node: RawNode,
  imported: ReadonlySet<string>,
  text: (node: RawNode) => string,
): boolean {
  const left = fieldOf(node, 'left');
  const right = fieldOf(node, 'right');
  if (left?.type !== 'attribute' || right === undefined || LITERALS.has(right.type)) return false;
  const name = fieldOf(left, 'attribute');
  const object = fieldOf(left, 'object');
  if (name !== undefined && PREDICT_METHODS.has(text(name))) return true;
  return object?.type === 'identifier' && imported.has(text(object));
}
