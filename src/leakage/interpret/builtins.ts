import type { Call } from '../syntax/ast.js';
import { type Facts, type FitEvent, joinFacts, NO_FACTS, union } from '../values/facts.js';
import { joinValues, list, newMapping, newSequence } from '../values/join.js';
import { overlapOf } from '../values/region.js';
import { constant, factsOf, isElement, opaque, textOf, UNKNOWN, type Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import { type Arguments, argumentsOf } from './arguments.js';
import { choiceEvents, scoredPart, withChoices } from './choices.js';
import { isDistanceOfRates } from './distance-of-rates.js';
import type { Interpreter } from './interpreter.js';
import { type Elements, elementsOf } from './iterate.js';
import { distinctOfArray } from './membership.js';
import { mappedOver } from './parallel-calls.js';
import { takeOneFold } from './splitters.js';
import { fileOf } from './stored-files.js';
import { asTable } from './table-calls.js';
import { runCallback, unknownCall } from './unknown-calls.js';

/** `sorted(columns, key=strength.get)`: which ones are the first was learned from rows. */
function learnedOrder(
  interp: Interpreter,
  { known, common }: Elements,
  key: Value | undefined,
  call: Call,
): readonly FitEvent[] {
  if (key === undefined) return [];
  const [element = common ?? UNKNOWN] = known ?? [];
  const by = key.type === 'function' ? interp.callFunction(key, argumentsOf([element]), call) : key;
  return factsOf(by).fits.filter(({ kind }) => kind === 'feature-selection');
}

/** Calls a built-in function of Python. */
export function callBuiltin(interp: Interpreter, name: string, args: Arguments, call: Call): Value {
  const [first, second] = args.positional;
  switch (name) {
    case 'print':
    case 'display':
      report(interp, args.all, call);
      return constant(null);
    case 'len':
      return first === undefined ? UNKNOWN : lengthOf(interp, first);
    case 'zip':
      return zipped(interp, args, call);
    case 'enumerate': {
      if (first === undefined) return UNKNOWN;
      const elements = elementsOf(interp, first, call);
      if (elements.known !== undefined) {
        return list(elements.known.map((element, at) => list([constant(at), element], true)));
      }
      return newSequence({
        items: [],
        rest: list([UNKNOWN, elements.common ?? UNKNOWN], true),
        tuple: false,
      });
    }
    case 'range':
      return first?.type === 'constant' && typeof first.value === 'number'
        ? opaque(NO_FACTS)
        : {
            type: 'positions',
            steps: [],
            ...(first?.type === 'opaque' && first.countOf !== undefined ? { counts: first.countOf } : {}),
          };
    case 'list':
    case 'tuple':
    case 'sorted':
    case 'reversed':
    case 'set':
    case 'iter': {
      if (first === undefined) return list([], name === 'tuple');
      const [counted] = args.expressions;
      if (name === 'set' && counted !== undefined && first.type !== 'positions')
        interp.counted.addDistinct(interp, asTable(interp, first), counted);
      const inOrder = name === 'sorted' ? sortedByScores(interp, first, call) : undefined;
      if (inOrder !== undefined) return inOrder;
      if (first.type === 'positions') return { ...first, set: name === 'set' };
      const distinct = name === 'set' ? distinctOfArray(interp, first) : undefined;
      if (distinct !== undefined) return { ...distinct, set: true };
      const names = first.type === 'opaque' && first.facts.fits.length === 0 ? first.names : undefined;
      if (names !== undefined) return list(names.map(constant), name === 'tuple');
      const elements = elementsOf(interp, first, call);
      const order = name === 'sorted' ? learnedOrder(interp, elements, args.keywords.get('key'), call) : [];
      if (elements.known !== undefined)
        return list(
          elements.known.map((element) => withChoices(element, order)),
          name === 'tuple',
        );
      const rest = withChoices(elements.common ?? UNKNOWN, order);
      return newSequence({ items: [], rest, tuple: name === 'tuple' });
    }
    case 'dict': {
      if (first?.type === 'mapping') return newMapping(first.cell.value);
      const rest = first === undefined ? undefined : opaque(factsOf(first));
      return newMapping({ entries: args.keywords, ...(rest === undefined ? {} : { rest }) });
    }
    case 'next': {
      if (first === undefined) return UNKNOWN;
      const elements = elementsOf(interp, first, call);
      const taken = elements.known?.[0] ?? elements.common ?? UNKNOWN;
      takeOneFold(taken);
      return taken;
    }
    case 'max':
    case 'min':
      return chosenOf(interp, args, call);
    case 'map':
      return first === undefined || second === undefined
        ? UNKNOWN
        : mappedOver(interp, first, args.positional.slice(1), call);
    case 'getattr':
      return opaque(first === undefined ? NO_FACTS : factsOf(first));
    case 'eval':
    case 'exec':
      interp.skip(call, `code that is built at run time (${name})`);
      return UNKNOWN;
    case 'float':
    case 'int':
    case 'round':
    case 'abs':
    case 'str':
    case 'repr':
    case 'format':
      if (first?.type === 'constant' && typeof first.value === 'number' && second === undefined) {
        const number = wholeNumber(name, first.value);
        if (number !== undefined) return constant(number);
      }
      if (first?.type === 'constant' && name === 'str') {
        const text = textOf(first);
        return text === undefined ? UNKNOWN : constant(text);
      }
      return first === undefined ? UNKNOWN : first.type === 'opaque' ? first : opaque(factsOf(first));
    case 'sum': {
      if (first === undefined) return UNKNOWN;
      const elements = elementsOf(interp, first, call);
      const [head, ...tail] = elements.known ?? [elements.common ?? UNKNOWN];
      // A sum of arrays adds them up row by row.
      return head === undefined ? UNKNOWN : tail.reduce(joinValues, head);
    }
    case 'super': {
      const self = interp.context.frames.at(-1)?.fn;
      const base = self?.owner?.bases.find((candidate) => candidate.type === 'class');
      if (self?.self === undefined || base?.type !== 'class' || self.self.type !== 'instance') return UNKNOWN;
      return { ...self.self, of: base };
    }
    case 'open': {
      const file = fileOf(interp, args);
      return file === undefined ? UNKNOWN : { type: 'opaque', facts: NO_FACTS, file };
    }
    case 'isinstance':
    case 'hasattr':
    case 'callable':
    case 'type':
    case 'input':
      return UNKNOWN;
    default:
      return unknownCall(interp, args, call);
  }
}

const HELD_OUT = /valid|\bval\b|held|hold|\btest/i;
const TRAINED_ON = /train|fit/i;

/** What a function of one number gives, where Python gives the same: it rounds halves to even numbers. */
function wholeNumber(name: string, value: number): number | undefined {
  if (name === 'int') return Math.trunc(value);
  if (name === 'abs') return Math.abs(value);
  return name === 'round' && Math.abs(value % 1) !== 0.5 ? Math.round(value) : undefined;
}

/** Whether a line says that what it prints is a score of held-out rows. */
function claims(interp: Interpreter, call: Call): boolean {
  const text = interp.text(call);
  if (!HELD_OUT.test(text)) return false;
  if (!TRAINED_ON.test(text)) return true;
  // The words that the reader gets say so, and the one thing that is printed with them names what was trained on.
  const parts = call.args.flatMap(({ value }) => (value.type === 'formatted' ? value.parts : [value]));
  const words = parts.map((part) => (part.type === 'constant' ? String(part.value) : '')).join(' ');
  const computed = parts.filter(({ type }) => type !== 'constant');
  return computed.length === 1 && HELD_OUT.test(words) && !TRAINED_ON.test(words);
}

/** How strongly a line says that it prints the score that the script is evaluated by. */
function rankOf(text: string): number {
  if (/final[\s_]+(validation|test)|validation[\s_]+performance/i.test(text)) return 2;
  return /\bfinal/i.test(text) ? 1 : 0;
}

/** A score that was chosen among scores of the same rows is reported. */
export function report(interp: Interpreter, values: readonly Value[], call: Call): void {
  for (const value of values) {
    const facts = factsOf(value);
    if (facts.scores.length > 0) interp.record.addPrint(call, rankOf(interp.text(call)));
    for (const score of facts.scores) {
      interp.record.addPrinted(score, claims(interp, call));
    }
    // Of a text that shows a score and a threshold beside it, the score alone may have been chosen.
    const parts = value.type === 'opaque' ? (value.shown ?? [value]) : [value];
    for (const part of parts) noteChosenScores(interp, factsOf(part), call);
  }
}

function noteChosenScores(interp: Interpreter, { scores, fits }: Facts, call: Call): void {
  countWork(scores.length * fits.length);
  for (const score of scores) {
    for (const fit of fits) {
      if (fit.kind !== 'selection' || overlapOf(fit.rows, scoredPart(score)) !== 'yes') continue;
      interp.record.addPrintedChoice({ fit, score, node: call });
    }
  }
}

function zipped(interp: Interpreter, args: Arguments, call: Call): Value {
  const all = args.positional.map((value) => elementsOf(interp, value, call));
  const lengths = all.flatMap((elements) => (elements.known === undefined ? [] : [elements.known.length]));
  if (lengths.length === all.length && all.length > 0) {
    const count = lengths.reduce((least, length) => Math.min(least, length));
    return list(
      Array.from({ length: count }, (_, at) =>
        list(
          all.map((elements) => elements.known?.[at] ?? UNKNOWN),
          true,
        ),
      ),
    );
  }
  const common = all.map(
    (elements) =>
      elements.common ?? elements.known?.reduce(joinValues, elements.known[0] ?? UNKNOWN) ?? UNKNOWN,
  );
  return newSequence({ items: [], rest: list(common, true), tuple: false });
}

/** The best of some scores: a choice on the rows that were scored. */
export function choose(interp: Interpreter, value: Value, call: Call): Value | undefined {
  const facts = factsOf(value);
  if (isDistanceOfRates(facts.scores, call)) return value;
  const events = choiceOf(interp, facts, call);
  return events === undefined ? undefined : chosenBy(facts, events);
}

function chosenBy(facts: Facts, events: readonly FitEvent[]): Value {
  return opaque({ ...facts, fits: union(facts.fits, events) });
}

/** What a choice among values is; `undefined` if no score decides. */
function choiceOf(
  interp: Interpreter,
  { scores }: Facts,
  call: Call,
  isCompared = false,
): readonly FitEvent[] | undefined {
  if (scores.length === 0 || isDistanceOfRates(scores, call)) return undefined;
  if (!isCompared && interp.scoresOfParts.areOfOneModel(scores)) return undefined;
  // `max(best, score)` goes from one to the next.
  const nested = call.args.filter(({ name }) => name === undefined).length > 1;
  return choiceEvents(interp, scores, `the best by \`${interp.label(call)}\``, call, { nested, isCompared });
}

/** Elements that are looked at for what they have in common. */
const MAX_ALIKE = 12;

/** One of several records, pairs or models, as `max(results, key=…)` gives it: what they have in common. */
function oneOf(interp: Interpreter, all: Value, choice: readonly FitEvent[], call: Call): Value | undefined {
  const { known, common } = elementsOf(interp, all, call);
  const [first, ...others] = known?.slice(0, MAX_ALIKE) ?? [common ?? UNKNOWN];
  if (first === undefined) return undefined;
  const one = others.reduce(joinValues, first);
  return one.type === 'mapping' || one.type === 'sequence' || one.type === 'estimator'
    ? withChoices(one, choice)
    : undefined;
}

/** What `sorted(results)` gives, or `results.sort()` makes of a list, if scores are in it: which record comes first is a choice. */
export function sortedByScores(interp: Interpreter, all: Value, call: Call): Value | undefined {
  const choice = choiceOf(interp, factsOf(all), call);
  if (choice === undefined) return undefined;
  const one = oneOf(interp, all, choice, call);
  return one === undefined ? choose(interp, all, call) : newSequence({ items: [], rest: one, tuple: false });
}

function chosenOf(interp: Interpreter, args: Arguments, call: Call): Value {
  for (const value of args.all) runCallback(interp, value, call);
  const all = args.positional.length > 1 ? list(args.positional) : (args.positional[0] ?? UNKNOWN);
  const key = args.keywords.get('key');
  const keyed =
    key === undefined
      ? all
      : list([
          all,
          ...(key.type === 'function'
            ? [interp.callValue(key, argumentsOf([itemOf(interp, all, call)]), call)]
            : [key]),
        ]);
  const choice = choiceOf(interp, factsOf(keyed), call, key?.type === 'function');
  const one = key === undefined ? undefined : oneOf(interp, all, choice ?? [], call);
  if (one !== undefined) return one;
  // Of plain candidates, what is chosen is no score, whatever scores decide on it.
  const own = factsOf(all).scores.length > 0 ? factsOf(keyed) : factsOf(all);
  const chosen = choice === undefined ? undefined : chosenBy(own, choice);
  if (chosen !== undefined) return chosen;
  const constants = args.positional.every((value) => value.type === 'constant');
  if (constants) return UNKNOWN;
  return opaque(args.positional.map((value) => factsOf(value)).reduce(joinFacts, NO_FACTS));
}

function itemOf(interp: Interpreter, value: Value, call: Call): Value {
  const elements = elementsOf(interp, value, call);
  return elements.common ?? elements.known?.[0] ?? UNKNOWN;
}

/** What `len` gives: a number, or the number of rows of a table. */
export function lengthOf(interp: Interpreter, value: Value): Value {
  if (value.type === 'sequence' && value.cell.value.rest === undefined) {
    return constant(value.cell.value.items.length);
  }
  const facts = interp.dataOf(value);
  interp.counted.addRows(interp, facts.rows);
  return facts.rows.length === 0 || !facts.certain || isElement(value)
    ? UNKNOWN
    : { type: 'opaque', facts: NO_FACTS, countOf: facts.rows };
}
