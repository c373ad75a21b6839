import type { Call, Expr, Module, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  ownExpressions,
  partsOf,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import { countText } from '../../values/work.js';

/** What a statement does beside its variables: effects of one kind have one order. */
export type EffectKind = 'plot' | 'output' | 'file' | 'random';

export interface OrderedEffect {
  readonly kind: EffectKind;
  /** The call without the names of variables, which a rewrite may change: `barh(figsize, 6, 8)`. */
  readonly label: string;
  /** It draws on a figure of its own, not on the current one. */
  readonly beginsPlot: boolean;
  /** What is drawn next is on another figure. */
  readonly endsPlot: boolean;
}

const PLOT_MODULES = /^(matplotlib|pylab|seaborn|plotly|missingno|scikitplot|yellowbrick|pandas\.plotting)\b/;
const PLOT_METHODS =
  /^(plot|hist|boxplot|imshow|show|scatter_matrix|from_predictions|from_estimator)$|^plot_|_plot$/;
/** Colors and settings that are only read. */
const PLOT_VALUES = /\.(cm|colors|color_palette|colormaps|rcParams)\b/;
const BEGINS_PLOT =
  /^(figure|subplots|jointplot|pairplot|relplot|catplot|lmplot|displot|clustermap|FacetGrid|PairGrid)$/;
const ENDS_PLOT = /^(show|close)$/;
const OUTPUTS = /^(print|display|pprint|info)$/;
const WRITES = /^(to_(csv|parquet|feather|pickle|excel|json|hdf|sql)|dump|save\w*|write\w*)$/;
const GENERATORS = /^(default_rng|RandomState|Generator)$/;

/** Finds the effects of the statements of one script whose order can be seen from outside. */
export class OrderedEffects {
  readonly #module: Module;
  /** Names that plotting modules and what they made are called by. */
  readonly #plotNames = new Set(['plt', 'sns']);
  readonly #generators = new Set<string>();
  readonly #functions = new Map<string, readonly OrderedEffect[]>();
  readonly #isSeeded: boolean;

  constructor(module: Module) {
    this.#module = module;
    countText(module.source.length);
    this.#isSeeded = /\bseed\(|\bset_seed\b/.test(module.source);
    const all = module.body.statements.flatMap((outer) => [...statementsIn(outer)]);
    for (const statement of all) this.#bind(statement);
    // A function that calls another is above or below it.
    for (let size = -1; size !== this.#count(); ) {
      size = this.#count();
      for (const statement of all) {
        if (statement.type !== 'function') continue;
        const found = statement.body.statements.flatMap((inner) => this.of(inner));
        if (found.length > 0) this.#functions.set(statement.name, oneOfEach(found, statement.name));
      }
    }
  }

  /** The effects of a statement and of the suites in it, in the order in which they are written. */
  of(statement: Stmt): OrderedEffect[] {
    return [...statementsIn(statement)].flatMap((inner) => this.ofItself(inner));
  }

  /** The effects of a statement without those of the suites in it. */
  ofItself(statement: Stmt): OrderedEffect[] {
    const effects: OrderedEffect[] = [];
    for (const own of ownExpressions(statement)) {
      for (const part of expressionsIn(own)) {
        if (part.type !== 'call') continue;
        const { callee } = part;
        const known = callee.type === 'name' ? this.#functions.get(callee.id) : undefined;
        if (known !== undefined) {
          effects.push(...known);
          continue;
        }
        const kind = this.#kindOf(part);
        if (kind === undefined) continue;
        const name = calleeName(part);
        const [beginsPlot, endsPlot] = [BEGINS_PLOT.test(name), ENDS_PLOT.test(name)];
        effects.push({ kind, label: this.#label(part), beginsPlot, endsPlot });
      }
    }
    return effects;
  }

  /** Whether a statement draws on a figure. */
  draws(statement: Stmt): boolean {
    return this.of(statement).some(({ kind }) => kind === 'plot');
  }

  #count(): number {
    return [...this.#functions.values()].reduce((sum, effects) => sum + effects.length, 0);
  }

  #bind(statement: Stmt): void {
    if (statement.type === 'import') {
      for (const { name, path } of statement.bindings) if (PLOT_MODULES.test(path)) this.#plotNames.add(name);
    } else if (statement.type === 'assign') {
      const { value } = statement;
      if (value.type === 'call' && GENERATORS.test(calleeName(value)))
        for (const target of statement.targets) this.#generators.add(rootName(target) ?? '');
      if (!this.#isOfPlot(value)) return;
      for (const target of statement.targets)
        for (const item of target.type === 'sequence' ? target.items : [target])
          if (item.type === 'name') this.#plotNames.add(item.id);
    } else if (statement.type === 'for') {
      // `for ax, column in zip(axes.flat, columns):`: the axes are among the targets.
      if ([...expressionsIn(statement.iterable)].some((part) => this.#isPlotName(part)))
        for (const part of expressionsIn(statement.target))
          if (part.type === 'name') this.#plotNames.add(part.id);
    }
  }

  #isPlotName(part: Expr): boolean {
    return part.type === 'name' && this.#plotNames.has(part.id);
  }

  /** `plt.subplots(…)`, `axes[0]`, `sns.heatmap(…)`, `frame.plot(…)` */
  #isOfPlot(value: Expr): boolean {
    if (value.type === 'call' && this.#isDrawing(value)) return true;
    return (
      this.#plotNames.has(rootName(value) ?? '') &&
      !PLOT_VALUES.test(this.#module.source.slice(value.start, value.end))
    );
  }

  #isDrawing(call: Call): boolean {
    const { callee } = call;
    if (PLOT_VALUES.test(this.#module.source.slice(callee.start, callee.end))) return false;
    if (this.#plotNames.has(rootName(callee) ?? '') || PLOT_METHODS.test(calleeName(call))) return true;
    // `frame.plot.barh(…)`, `frame.boxplot(ax=ax)`
    const isPlotAccessor =
      callee.type === 'attribute' && callee.object.type === 'attribute' && callee.object.name === 'plot';
    return isPlotAccessor || call.args.some(({ value }) => this.#plotNames.has(rootName(value) ?? ''));
  }

  #kindOf(call: Call): EffectKind | undefined {
    const name = calleeName(call);
    if (this.#isDrawing(call)) return 'plot';
    if (OUTPUTS.test(name)) return 'output';
    if (call.callee.type === 'attribute' && WRITES.test(name)) return 'file';
    return this.#drawsAtRandom(call, name) ? 'random' : undefined;
  }

  /** A draw whose result depends on the draws before it. */
  #drawsAtRandom(call: Call, name: string): boolean {
    const { callee, args } = call;
    if (this.#generators.has(rootName(callee) ?? '')) return true;
    if (args.some(({ value }) => value.type === 'name' && this.#generators.has(value.id))) return true;
    if (!this.#isSeeded) return false;
    if (GENERATORS.test(name)) return false;
    if (callee.type === 'attribute') {
      const owner = callee.object;
      if (owner.type === 'attribute' && owner.name === 'random') return true;
      if (owner.type === 'name' && owner.id === 'random') return true;
    }
    return (
      /^(train_test_split|sample|shuffle|resample)$/.test(name) &&
      !args.some((argument) => argument.name === 'random_state')
    );
  }

  #label(call: Call): string {
    const texts = call.args.flatMap(({ name, value }) => [
      ...(name === undefined ? [] : [name]),
      ...this.#constantsIn(value),
    ]);
    return `${calleeName(call)}(${texts.join(', ')})`;
  }

  /** Constants of an argument, without those of the calls in it. */
  #constantsIn(value: Expr): string[] {
    if (value.type === 'call') return [];
    if (value.type === 'constant') return [String(value.value)];
    // What is in the braces are variables.
    if (value.type === 'formatted')
      return [this.#module.source.slice(value.start, value.end).replaceAll(/\{[^{}]*\}/g, '{}')];
    return partsOf(value).flatMap((part) => this.#constantsIn(part));
  }
}

/** What a call of a function does: one effect of each kind, which begins a figure if the first one does. */
function oneOfEach(effects: readonly OrderedEffect[], name: string): OrderedEffect[] {
  const kinds = new Set(effects.map(({ kind }) => kind));
  return [...kinds].map((kind) => {
    const own = effects.filter((effect) => effect.kind === kind);
    const [beginsPlot, endsPlot] = [own[0]?.beginsPlot ?? false, own.at(-1)?.endsPlot ?? false];
    return { kind, label: `${name}()`, beginsPlot, endsPlot };
  });
}
