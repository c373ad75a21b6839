import { type ComponentKind, isCodeOf } from './component-kinds.js';
import { modelFamily } from './metric-in-code.js';
import type { SolutionStatement } from './solution-statements.js';

export interface ComponentBlock {
  readonly start: number;
  readonly end: number;
  /** How well the block fits the component; comparable within one component. */
  readonly fit: number;
}

const STOP_WORDS = new Set(
  'the and for with without feature features component components step part model models using use from into only all off out not non its based type layer data column columns values value of in on to by a an is was as it no or de des du la le les'.split(
    ' ',
  ),
);

function squeeze(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

/** `OneHotEncoder`, `one_hot` and `one-hot` give the same words; endings are cut for comparison. */
function wordsOf(text: string): string[] {
  return text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1 && !STOP_WORDS.has(word))
    .map((word) =>
      word.length > 5
        ? word.replace(/(?:ations?|ings?|ers?|ors?|ies|es|s|ed|e)$/u, '')
        : word.replace(/s$/u, ''),
    );
}

/** Whether the name of a function or variable is the component's name, or a good part of it. */
function namesComponent(made: string, wanted: string): boolean {
  if (wanted.length >= 4 && made.includes(wanted)) return true;
  return (
    made.length >= 5 && made.length * 2 >= wanted.length && (wanted.startsWith(made) || wanted.endsWith(made))
  );
}

/** The model family that a name holds, as in "the depth of XGBoost". */
function familyIn(name: string): string | undefined {
  return (
    modelFamily(name) ??
    name
      .split(/\s+/)
      .map(modelFamily)
      .find((family) => family !== undefined)
  );
}

/** A component, ready to be compared with thousands of statements. */
interface Wanted {
  readonly name: string;
  readonly words: readonly string[];
  readonly family: string | undefined;
  readonly kind: ComponentKind | undefined;
}

function wantedOf(component: string, kind: ComponentKind | undefined): Wanted {
  const words = [...new Set(wordsOf(component))].filter((word) => word.length > 2);
  return { name: squeeze(component), words, family: familyIn(component), kind };
}

/** The names of a statement, ready to be compared with many components. */
interface StatementNames {
  readonly makes: readonly string[];
  readonly made: ReadonlySet<string>;
  readonly mentioned: ReadonlySet<string>;
}

const NAMES = new WeakMap<SolutionStatement, StatementNames>();

function namesOf(statement: SolutionStatement): StatementNames {
  const known = NAMES.get(statement);
  if (known !== undefined) return known;
  const names = {
    makes: statement.makes.map(squeeze).filter((name) => name.length >= 3),
    made: new Set(statement.makes.flatMap(wordsOf)),
    mentioned: new Set(statement.mentions.flatMap(wordsOf)),
  };
  NAMES.set(statement, names);
  return names;
}

function fitOf(statement: SolutionStatement, { name: wanted, words, family, kind }: Wanted): number {
  const { makes, made, mentioned } = namesOf(statement);
  let fit = 0;
  if (wanted.length >= 3 && makes.includes(wanted)) fit += 12;
  else if (family !== undefined && statement.makes.some((name) => modelFamily(name) === family)) fit += 10;
  else if (makes.some((name) => namesComponent(name, wanted))) fit += 8;
  if (words.length > 0) {
    const strong = words.filter((word) => made.has(word)).length / words.length;
    const weak = words.filter((word) => mentioned.has(word)).length / words.length;
    fit += 6 * strong + 2 * weak;
  }
  if (kind !== undefined) {
    if (statement.makes.some((name) => isCodeOf(kind, name))) fit += 5;
    else if (statement.mentions.some((name) => isCodeOf(kind, name))) fit += 1;
  }
  // A class that is built says more than a variable that is passed on.
  if (
    fit > 0 &&
    statement.makes.some(
      (name) =>
        /^[A-Z]\w*[a-z]/.test(name) &&
        ((kind !== undefined && isCodeOf(kind, name)) || squeeze(name) === wanted),
    )
  )
    fit += 2;
  return statement.isPrint ? fit / 6 : fit;
}

/** Less than this is not a sign that a statement makes the component. */
const MIN_FIT = 3;
const MAX_BLOCK_STATEMENTS = 6;
/** Below this, a statement shares only some of the component's words, as `OneHotEncoder` does with "target encoding". */
export const MIN_MADE_FIT = 4.5;
/** At least this much where a statement has the component's very name. */
const NAMED_FIT = 8;

/**
 * Groups the statements that make a component into blocks of whole, adjacent statements, best first.
 *
 * @param component name of the component; empty to go by the kind alone.
 * @param except name of a component whose statements are left out.
 */
export function blocksFor(
  statements: readonly SolutionStatement[],
  component: string,
  kind: ComponentKind | undefined,
  except = '',
): ComponentBlock[] {
  const wanted = wantedOf(component, kind);
  const unwanted = except === '' ? undefined : wantedOf(except, undefined);
  const isExcept = (statement: SolutionStatement): boolean =>
    unwanted !== undefined && fitOf(statement, unwanted) >= NAMED_FIT;
  const fits = new Map(
    statements.map((statement) => [statement, isExcept(statement) ? 0 : fitOf(statement, wanted)]),
  );
  const byPosition = new Map(
    statements.map((statement) => [`${statement.block}:${statement.position}`, statement]),
  );
  const best = [...fits.values()].reduce((most, fit) => Math.max(most, fit), 0);
  const least = Math.max(MIN_FIT, best * 0.5);
  const fitting = statements.filter((statement) => (fits.get(statement) ?? 0) >= least);
  fitting.sort((a, b) => (fits.get(b) ?? 0) - (fits.get(a) ?? 0) || a.start - b.start);
  const taken = new Set<SolutionStatement>();
  const blocks: ComponentBlock[] = [];
  for (const seed of fitting) {
    if (taken.has(seed)) continue;
    const fit = fits.get(seed) ?? 0;
    const members = [seed];
    const neighbor = (from: SolutionStatement, step: 1 | -1): SolutionStatement | undefined =>
      byPosition.get(`${from.block}:${from.position + step}`);
    const belongs = (other: SolutionStatement | undefined): other is SolutionStatement =>
      other !== undefined &&
      !other.isDefinition &&
      !seed.isDefinition &&
      !other.isPrint &&
      !taken.has(other) &&
      members.length < MAX_BLOCK_STATEMENTS;
    for (let next = neighbor(seed, 1); belongs(next); next = neighbor(next, 1)) {
      const assigned = new Set(members.flatMap((member) => member.assigns));
      const goesOn = next.fits.some((name) => assigned.has(name));
      if (!goesOn && (fits.get(next) ?? 0) < Math.max(MIN_FIT, fit * 0.6)) break;
      members.push(next);
    }
    for (let before = neighbor(seed, -1); belongs(before); before = neighbor(before, -1)) {
      if ((fits.get(before) ?? 0) < Math.max(MIN_FIT, fit * 0.6)) break;
      members.unshift(before);
    }
    for (const member of members) taken.add(member);
    blocks.push({ start: members[0]?.start ?? seed.start, end: members.at(-1)?.end ?? seed.end, fit });
  }
  return blocks;
}
