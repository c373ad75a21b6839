import type { CheckName } from './checks.js';
import { comparePair, type PairCheckName, type PairComparison, type PairThresholds } from './compare-pair.js';
import { confidenceOf } from './confidence.js';
import type { ContaminationConfig } from './config.js';
import { templateFingerprint } from './index/fingerprints.js';
import { PreparedText } from './prepared-text.js';
import { analyzeReasoning } from './reasoning.js';
import { isSameText, sameTextSize } from './same-text.js';
import { similarityResult } from './similarity.js';
import { factorForSet, MINIMUM_TOKENS } from './thresholds.js';
import { checkTiming, expectedSolveTime } from './timing.js';
import type {
  ContaminationChecks,
  ContaminationResult,
  EvasionCheck,
  KnownReference,
  RanCheck,
  TestCase,
} from './types.js';

/** A known solution with its text prepared. */
export interface PreparedKnown {
  readonly reference: KnownReference;
  readonly text: PreparedText;
}

/** All that a verdict needs, gathered; no input or output happens from here on. */
export interface Case {
  readonly output: PreparedText;
  readonly testCase: TestCase;
  readonly config: ContaminationConfig;
  /** Known solutions of the same test case. */
  readonly known: readonly PreparedKnown[];
  /** Candidates among the known solutions of other test cases, from an index. */
  readonly others: readonly PreparedKnown[];
  /** Known solutions of other test cases that are the same text as the output. */
  readonly equals?: readonly PreparedKnown[] | undefined;
  /** Size of the whole known set that the candidates come from. */
  readonly setSize: number;
  /** Fraction of the known set in which a fingerprint is; left out where the set is too small to learn from. */
  readonly commonness?: ((fingerprint: number) => number) | undefined;
}

const PAIR_CHECKS: readonly PairCheckName[] = ['containment', 'evidence', 'fingerprint', 'wording'];
const NO_KNOWN = 'no known solution of this test case';
const SWITCHED_OFF = 'switched off by the configuration';
/** Lookups need more to hold on to than a single pair. */
const LOOKUP_TOKENS = 80;
/** Tokens, or words of prose, from which an equal text of another task is no coincidence. */
const MIN_SAME_SIZE = 8;
const MAX_SPANS = 500;
const CLEARLY = 1.25;

/**
 * Gives the verdict on one output: every check that can run runs, the rest say why they did not; one raised
 * check is enough.
 *
 * @throws PayloadError for a solve time or a difficulty that means nothing
 */
export function classify(input: Case): ContaminationResult {
  return new Classifier(input).result();
}

class Classifier {
  readonly #input: Case;
  readonly #checks: ContaminationChecks = { skipped: {} };
  readonly #reasons: string[] = [];
  #margin: number | undefined;

  constructor(input: Case) {
    this.#input = input;

    expectedSolveTime(input.testCase.difficulty);
  }

  result(): ContaminationResult {
    this.#similarity();
    this.#timing();
    this.#reasoning();
    this.#exact();
    this.#pairChecks();
    this.#crossTask();
    const contaminated = this.#reasons.length > 0;
    const note = contaminated || this.#margin !== undefined ? undefined : this.#whyUnknown();
    return {
      contaminated,
      ...(contaminated ? { reason: this.#reasons.join('; ') } : {}),
      confidence: confidenceOf({
        margin: this.#margin,
        timing: this.#checks.timing?.contaminated === true,
        reasoning: this.#checks.reasoning?.jumpsToSolution === true,
      }),
      ...(note === undefined ? {} : { note }),
      checks: this.#checks,
      config: this.#input.config,
    };
  }

  /** Why the confidence of a clean output is no more than one half. */
  #whyUnknown(): string {
    const { known, testCase, setSize } = this.#input;
    if (known.length > 0 && this.#isTranslated())
      return `the known solutions of ${testCase.id} are in another language; translations are not found`;
    if (known.length > 0)
      return `the known solutions of ${testCase.id} are too short to tell, or the checks are switched off`;
    const others =
      this.#checks.crossTask?.status === 'ran'
        ? `none of the other ${setSize} is similar enough to be compared`
        : 'nothing else was compared';
    return `no known solution of ${testCase.id}; ${others}`;
  }

  #runs(name: CheckName, needsKnown = false): boolean {
    if (this.#input.config.skipChecks.includes(name)) this.#skip(name, SWITCHED_OFF);
    else if (needsKnown && this.#input.known.length === 0) this.#skip(name, NO_KNOWN);
    else return true;
    return false;
  }

  #skip(name: CheckName, reason: string): void {
    this.#checks.skipped[name] = reason;
  }

  #weigh(margin: number): void {
    this.#margin = Math.max(this.#margin ?? 0, margin);
  }

  #similarity(): void {
    if (!this.#runs('similarity', true)) return;
    const { output, known, config } = this.#input;
    const results = known.map(({ text }) => similarityResult(output, text, config.similarityThreshold));
    const best = results.reduce((a, b) => (b.similarity > a.similarity ? b : a));
    this.#checks.similarity = best;
    if (!best.contaminated) return;
    this.#weigh(SURE);
    this.#reasons.push(`Output ${percent(best.similarity)} similar to known solution`);
  }

  #timing(): void {
    const { testCase, config } = this.#input;
    if (testCase.solveTime === undefined) {
      this.#skip('timing', 'no solve time was measured');
      return;
    }
    // An impossible time is an error also where the check is switched off.
    const timing = checkTiming(testCase, config.fastSolveThreshold);
    if (!this.#runs('timing')) return;
    this.#checks.timing = timing;
    if (timing.contaminated) {
      this.#reasons.push(
        `Solve time (${timing.actualTime} ms) is ${percent(timing.ratio)} of the expected time`,
      );
    }
  }

  #reasoning(): void {
    const { testCase, config, known } = this.#input;
    const chain = testCase.thoughtChain ?? [];
    if (!this.#runs('reasoning')) return;
    if (chain.length === 0) {
      this.#skip('reasoning', 'no chain of thoughts was handed in');
      return;
    }
    const reasoning = analyzeReasoning(
      chain,
      known.map(({ text }) => text),
      config,
    );
    this.#checks.reasoning = reasoning;
    if (reasoning.jumpsToSolution)
      this.#reasons.push('Reasoning chain jumps directly to solution without exploration');
  }

  #exact(): void {
    if (!this.#runs('exact', true)) {
      this.#checks.exact = {
        status: 'skipped',
        threshold: 1,
        skipped: this.#checks.skipped.exact ?? NO_KNOWN,
      };
      return;
    }
    const { output, known } = this.#input;
    const equal = known.find(({ text }) => isSameText(output, text));
    const whole = {
      output: [0, output.original.length],
      known: [0, equal?.text.original.length ?? 0],
    } as const;
    this.#checks.exact = {
      status: 'ran',
      value: equal === undefined ? 0 : 1,
      threshold: 1,
      contaminated: equal !== undefined,
      ...(equal === undefined ? {} : { known: equal.reference }),
      spans: equal === undefined ? [] : [whole],
    };
    if (equal === undefined) return;
    this.#weigh(SURE);
    this.#reasons.push(
      'Output is the known solution, except for letter case, white space and invisible characters',
    );
  }

  #pairChecks(): void {
    const names = PAIR_CHECKS.filter((name) => this.#runs(name, true));
    const thresholds = pairThresholds(this.#input.config);
    for (const name of PAIR_CHECKS) {
      const why = this.#checks.skipped[name];
      if (why !== undefined)
        this.#checks[name] = { status: 'skipped', threshold: thresholds[name], skipped: why };
    }
    if (names.length === 0) return;
    const compared = this.#input.known.map((known) => ({
      known,
      comparison: this.#compare(known, thresholds, this.#input.config.minimumTokens),
    }));
    for (const name of names) {
      const check = strongest(name, compared, thresholds[name]);
      this.#checks[name] = check;
      if (check.status === 'skipped') {
        this.#skip(name, check.skipped);
        continue;
      }
      // A translation has no statement in common with its original, so finding none says nothing.
      if (check.contaminated || !this.#isTranslated()) this.#weigh(check.value / check.threshold);
      if (check.contaminated) this.#reasons.push(REASONS[name](check.value));
    }
  }

  /** Whether the output is a program in another language than all known solutions of the test case. */
  #isTranslated(): boolean {
    const { output, known } = this.#input;
    const { language } = output.view;
    return known.every(
      ({ text: { kind } }) =>
        (kind === 'python' || kind === 'javascript') &&
        language === (kind === 'python' ? 'javascript' : 'python') &&
        output.program(language).size >= MINIMUM_TOKENS,
    );
  }

  #crossTask(): void {
    const { setSize, config } = this.#input;
    const threshold = factorForSet(setSize);
    const reason = config.skipChecks.includes('crossTask')
      ? SWITCHED_OFF
      : setSize === 0
        ? 'no known solutions of other test cases'
        : undefined;
    if (reason !== undefined) {
      this.#skip('crossTask', reason);
      this.#checks.crossTask = { status: 'skipped', threshold, skipped: reason };
      return;
    }
    const best = this.#strongestOther(threshold);
    this.#checks.crossTask = best;
    // Without a known solution that could be compared, the look-up says nothing about a clean output.
    const isOpen = this.#margin === undefined && (this.#input.known.length > 0 || best.known === undefined);
    if (best.contaminated || !isOpen) this.#weigh(best.value / threshold);
    if (best.contaminated) {
      this.#reasons.push(`Output copies a known solution of test case ${best.known?.testCaseId}`);
    }
  }

  #strongestOther(threshold: number): RanCheck {
    const thresholds = pairThresholds(this.#input.config);
    let best = this.#equalOther(threshold);
    if (best.contaminated) return best;
    for (const known of this.#input.others) {
      const { measures } = this.#compare(
        known,
        thresholds,
        Math.max(LOOKUP_TOKENS, this.#input.config.minimumTokens),
      );
      for (const measure of Object.values(measures)) {
        const value = measure.value / measure.threshold;
        if (value <= best.value) continue;
        const contaminated = value >= threshold;
        const spans = contaminated ? measure.spans().slice(0, MAX_SPANS) : [];
        best = { status: 'ran', value, threshold, contaminated, known: known.reference, spans };
      }
      // The candidates come best first: one that is copied beyond doubt is the one.
      if (best.value >= CLEARLY * threshold) break;
    }
    return best;
  }

  /** An equal text of another task, however short; the shorter it is, the likelier two people wrote it. */
  #equalOther(threshold: number): RanCheck {
    const none: RanCheck = { status: 'ran', value: 0, threshold, contaminated: false, spans: [] };
    const { output, equals = [] } = this.#input;
    const starter = this.#starterText();
    for (const { reference, text } of equals) {
      const size = sameTextSize(text);
      if (size < MIN_SAME_SIZE || (starter !== undefined && isSameText(starter, text))) continue;
      const value = threshold * Math.min(SURE, 1 + size / MINIMUM_TOKENS);
      const spans = [{ output: [0, output.original.length], known: [0, text.original.length] }] as const;
      return { status: 'ran', value, threshold, contaminated: true, known: reference, spans };
    }
    return none;
  }

  #starterText(): PreparedText | undefined {
    const { starter } = this.#input.testCase;
    this.#starter ??= starter === undefined ? undefined : new PreparedText(starter);
    return this.#starter;
  }

  #compare(known: PreparedKnown, thresholds: PairThresholds, minimumTokens: number): PairComparison {
    const { output, commonness } = this.#input;
    const { kind } = known.text;
    const fraction =
      commonness === undefined || kind === 'prose'
        ? undefined
        : (template: string): number => commonness(templateFingerprint(kind, template));
    return comparePair(output, known.text, {
      thresholds,
      minimumTokens,
      starter: this.#starterText(),
      commonness: fraction,
    });
  }

  #starter: PreparedText | undefined;
}

/** An equal text, or one above the binding similarity, leaves no doubt. */
const SURE = 2;

const REASONS: Record<PairCheckName, (value: number) => string> = {
  containment: (value) =>
    `${percent(value)} of the known solution is in the output in stretches, names set aside`,
  evidence: (value) =>
    `Long stretches of the known solution are in the output word for word (${value.toFixed(1)} times what is needed)`,
  fingerprint: (value) =>
    `${percent(value)} of the known solution's statements are in the output under other names or in another order`,
  wording: (value) =>
    `${percent(value)} of the known text is in the output, with at most single words exchanged`,
};

function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(1)}%`;
}

function pairThresholds(config: ContaminationConfig): PairThresholds {
  return {
    containment: config.containmentThreshold,
    evidence: config.evidenceThreshold,
    fingerprint: config.fingerprintThreshold,
    wording: config.wordingThreshold,
  };
}

interface Compared {
  readonly known: PreparedKnown;
  readonly comparison: PairComparison;
}

function strongest(name: PairCheckName, compared: readonly Compared[], threshold: number): EvasionCheck {
  let best:
    | {
        readonly known: PreparedKnown;
        readonly measure: NonNullable<PairComparison['measures'][PairCheckName]>;
      }
    | undefined;
  for (const { known, comparison } of compared) {
    const measure = comparison.measures[name];
    if (measure === undefined) continue;
    if (
      best === undefined ||
      measure.value / measure.threshold > best.measure.value / best.measure.threshold
    ) {
      best = { known, measure };
    }
  }
  if (best === undefined) {
    return { status: 'skipped', threshold, skipped: compared[0]?.comparison.skipped[name] ?? NO_KNOWN };
  }
  const { measure } = best;
  return {
    status: 'ran',
    value: measure.value,
    threshold: measure.threshold,
    contaminated: measure.value >= measure.threshold,
    known: best.known.reference,
    spans: measure.spans().slice(0, MAX_SPANS),
  };
}
