/** What the ablation script and its run left behind (REQ-P2O-010). */
export interface AblationInput {
  /** Source of the ablation script; may be empty here, then nothing is learned from it. */
  readonly ablationCode: string;
  /** What the script printed; may be empty. */
  readonly rawOutput: string;
}

export type Direction = 'higher' | 'lower' | 'unknown';

export interface AblationScore {
  /** The score, or the mean of the scores where only folds were printed. */
  readonly value: number;
  /** The number as the script printed it; absent where the value is a mean that was not printed. */
  readonly printed?: string;
  /** Set where the value is a mean of single runs: how many, and the printed extremes. */
  readonly runs?: { readonly count: number; readonly lowest: string; readonly highest: string };
}

/** How a variant differs from the baseline. */
export type VariantKind = 'removed' | 'kept-alone' | 'replaced' | 'added' | 'changed';

export interface AblationVariant {
  /** Name of the component that the variant takes out, as short as the output allows. */
  readonly component: string;
  /** The variant as the script named it. */
  readonly label: string;
  readonly kind: VariantKind;
  /** Absent where the script printed only the change. */
  readonly score?: AblationScore;
  /** Score of the variant minus score of the baseline; for a printed change: that change. */
  readonly change: number;
  /** The change as it was printed, where only the change was printed. */
  readonly printedChange?: string;
  /** Absolute change. */
  readonly impact: number;
  /** What the component does for the score, told from the change and the direction of the metric. */
  readonly effect: 'helps' | 'harms' | 'none' | 'unknown';
}

export interface FailedVariant {
  readonly component: string;
  readonly label: string;
  /** What was printed instead of a score, as in `nan`. */
  readonly reason: string;
}

export interface AblationReading {
  /** Metric that the ranking uses, as printed or as the script's code names it. */
  readonly metric?: string;
  readonly direction: Direction;
  /** Where the direction was read: from the metric's name, the code, what the output says about it, or nowhere. */
  readonly directionFrom: 'name' | 'code' | 'output' | 'none';
  /** Further metrics that were printed for the variants and not used. */
  readonly otherMetrics: readonly string[];
  readonly baseline?: { readonly label: string; readonly score: AblationScore };
  /** Variants with a score, most impactful first; equal impacts stay in printed order. */
  readonly variants: readonly AblationVariant[];
  readonly failed: readonly FailedVariant[];
  /** Whether the output was so long that its middle was not read. */
  readonly partlyRead: boolean;
  /** Last line of a traceback, or the words of a run that was killed. */
  readonly interruption?: string;
  /** Set where no component can be singled out: the reason. `variants` is then empty. */
  readonly unusable?: string;
}
