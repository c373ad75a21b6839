import { UsageError } from '../errors.js';
import { classify, type PreparedKnown } from './classify.js';
import { type ContaminationConfig, type ContaminationConfigInput, completeConfig } from './config.js';
import { queryFingerprints } from './index/fingerprints.js';
import type { KnownSolutionIndex } from './index/known-index.js';
import { completeKnownSolution, type KnownSolutionStore, MemoryKnownSet } from './known-set.js';
import { PreparedText } from './prepared-text.js';
import { analyzeReasoning } from './reasoning.js';
import { sameTextHashes } from './same-text.js';
import { similarityResult } from './similarity.js';
import { contentHash } from './text/folded-text.js';
import { checkTiming } from './timing.js';
import type {
  ContaminationResult,
  KnownSolution,
  KnownSolutionInput,
  ReasoningResult,
  SimilarityResult,
  TestCase,
  TimingResult,
} from './types.js';

/** Characters of text whose readings are kept. */
const ROOM = 4_000_000;

/** Readings of known solutions that were used lately, so that one that is asked for again is not read again. */
class PreparedTexts {
  readonly #cached = new Map<string, PreparedText>();
  #used = 0;

  of(known: KnownSolution): PreparedText {
    const cached = this.#cached.get(known.hash);
    if (cached !== undefined && cached.original === known.solution) {
      this.#cached.delete(known.hash);
      this.#cached.set(known.hash, cached);
      return cached;
    }
    const text = new PreparedText(known.solution);
    if (cached !== undefined) this.#used -= cached.original.length;
    this.#cached.set(known.hash, text);
    this.#used += text.original.length;
    for (const [hash, oldest] of this.#cached) {
      if (this.#used <= ROOM || oldest === text) break;
      this.#cached.delete(hash);
      this.#used -= oldest.original.length;
    }
    return text;
  }
}

/** Candidates of an index look-up that are compared exactly. */
const CANDIDATES = 6;
/** From this many known solutions on, what is in many of them is taken for common. */
const ENOUGH_TO_LEARN = 100;

/** What one check may have of its own. */
export interface CheckOptions {
  /** Default: the configuration of the detector. */
  readonly config?: ContaminationConfigInput | undefined;
  /** Default: the known set of the detector. */
  readonly source?: KnownSource;
}

/** A known set that is stored elsewhere: its texts, and an index of all of them. */
export interface KnownSource {
  readonly store: KnownSolutionStore;
  readonly index: KnownSolutionIndex;
}

/**
 * Decides whether an agent's output is a copy of a known solution (SPEC-SIL-009). Needs no Redis: known solutions are kept
 * in memory unless a check has another source. Parsed known solutions are cached, so use one detector for many checks.
 */
export class ContaminationDetector {
  readonly config: ContaminationConfig;
  readonly #memory = new MemoryKnownSet();
  readonly #source: KnownSource;
  readonly #prepared = new PreparedTexts();

  /** @throws PayloadError for an unknown setting, or one out of its range */
  constructor(config: ContaminationConfigInput = {}, source?: KnownSource) {
    this.config = completeConfig(config);
    this.#source = source ?? { store: this.#memory, index: this.#memory.index };
  }

  /**
   * Adds known solutions to those already loaded; one that is there already is left as it is.
   *
   * @throws PayloadError for one without a test case or a text; those before it are loaded
   */
  loadTrainingSet(solutions: Iterable<KnownSolutionInput>): Promise<void> {
    try {
      for (const solution of solutions) this.#memory.add(completeKnownSolution(solution));
      return Promise.resolve();
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** @throws PayloadError for an empty test case id or solution */
  addToTrainingSet(testCaseId: string, solution: string): void {
    this.#memory.add(completeKnownSolution({ testCaseId, solution }));
  }

  /** Whether a text equals a known solution, except for letter case and the length of white space. */
  isInTrainingSet(content: string): boolean {
    return this.#memory.has(contentHash(content));
  }

  /** Takes a known solution out of a test case; false if it was not there. */
  removeFromTrainingSet(testCaseId: string, solution: string): boolean {
    return this.#memory.remove({ testCaseId, hash: contentHash(solution) });
  }

  clearTrainingSet(): void {
    this.#memory.clear();
  }

  /** Number of known solutions; the same text for two test cases is two. */
  getTrainingSetSize(): number {
    return this.#memory.size;
  }

  /**
   * The verdict on one output.
   *
   * @throws PayloadError for a solve time that is not a positive number, an unknown difficulty, or a setting that is unknown or
   *   out of its range
   */
  async checkContamination(
    output: string,
    testCase: TestCase,
    { config: input, source = this.#source }: CheckOptions = {},
  ): Promise<ContaminationResult> {
    const config = input === undefined ? this.config : completeConfig(input);
    const { store, index } = source;
    const text = new PreparedText(output);
    const known = await store.ofTestCase(testCase.id);
    const skipsOthers = config.skipChecks.includes('crossTask') || index.size === 0;
    const others = skipsOthers ? [] : await lookUp(source, text, testCase.id);
    const equals = skipsOthers ? [] : await lookUpEqual(source, text, testCase.id);
    return classify({
      output: text,
      testCase,
      config,
      known: known.map((each) => this.#prepare(each)),
      others: others.map((each) => this.#prepare(each)),
      equals: equals.map((each) => this.#prepare(each)),
      setSize: Math.max(0, index.size - known.length),
      commonness: index.size >= ENOUGH_TO_LEARN ? (fingerprint) => index.commonness(fingerprint) : undefined,
    });
  }

  /** The binding check alone. */
  checkSimilarity(output: string, known: string): SimilarityResult {
    return similarityResult(
      new PreparedText(output),
      new PreparedText(known),
      this.config.similarityThreshold,
    );
  }

  /** @throws PayloadError for a solve time that is not a positive number, or an unknown difficulty */
  checkTiming(testCase: TestCase): TimingResult {
    return checkTiming(testCase, this.config.fastSolveThreshold);
  }

  analyzeReasoning(thoughtChain: readonly string[], known?: string): ReasoningResult {
    return analyzeReasoning(thoughtChain, known === undefined ? [] : [new PreparedText(known)], this.config);
  }

  #prepare(known: KnownSolution): PreparedKnown {
    return { reference: { testCaseId: known.testCaseId, hash: known.hash }, text: this.#prepared.of(known) };
  }
}

async function lookUp(
  { store, index }: KnownSource,
  output: PreparedText,
  testCaseId: string,
): Promise<readonly KnownSolution[]> {
  const candidates = index.search(queryFingerprints(output), CANDIDATES, testCaseId);
  return store.byReference(candidates.map(({ reference }) => reference));
}

async function lookUpEqual(
  { store, index }: KnownSource,
  output: PreparedText,
  testCaseId: string,
): Promise<readonly KnownSolution[]> {
  const found = [...sameTextHashes(output)].map((hash) => index.withHash(hash, testCaseId));
  const references = found.filter((reference) => reference !== undefined);
  return references.length === 0 ? [] : store.byReference(references);
}

let shared: ContaminationDetector | undefined;

/**
 * The one detector of the process; made at the first call.
 *
 * @throws UsageError if it exists already with another configuration, which would silently not apply
 */
export function getContaminationDetector(config?: ContaminationConfigInput): ContaminationDetector {
  if (shared === undefined) {
    shared = new ContaminationDetector(config);
    return shared;
  }
  if (config !== undefined && JSON.stringify(completeConfig(config)) !== JSON.stringify(shared.config)) {
    throw new UsageError(
      'usage',
      'the shared contamination detector exists already with another configuration; call resetContaminationDetector() first, or make a ContaminationDetector of your own',
    );
  }
  return shared;
}

/** Forgets the shared detector and its known solutions. */
export function resetContaminationDetector(): void {
  shared = undefined;
}
