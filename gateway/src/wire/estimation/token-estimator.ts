import { createTokenizerThread } from './tokenizer-thread.ts';
import { familyOf, type EstimateTarget, weigh, type TextCounts } from './family.ts';
import type { Outline } from './outline.ts';

/** Estimates how much of a model's window a request takes. */
export interface TokenEstimator {
  /**
   * The input tokens of a request: the highest estimate among the models that may respond. Never rejects. If the text
   * cannot be counted in time, the estimate uses its length.
   */
  estimate(outline: Outline, targets: readonly EstimateTarget[]): Promise<number>;
  close(): Promise<void>;
}

export interface TokenEstimatorOptions {
  /** Milliseconds; see `createTokenizerThread`. */
  readonly idle?: number;
  readonly patience?: number;
  readonly onProblem: (error: unknown) => void;
}

const idleMs = 5 * 60_000;
const patienceMs = 5_000;

/** Counts in a thread of its own, which the first estimate starts. */
export function createTokenEstimator(options: TokenEstimatorOptions): TokenEstimator {
  const { idle = idleMs, patience = patienceMs, onProblem } = options;
  const thread = createTokenizerThread({ idle, patience, onProblem });
  return {
    async estimate(outline, targets) {
      const texts = (await thread.count(outline)) ?? byLength(outline);
      return Math.max(1, ...targets.map((target) => weigh(outline, texts, familyOf(target))));
    },
    close: () => thread.close(),
  };
}

/** English needs a token per four bytes, most scripts one per three or more, source code slightly more tokens. */
const bytesPerToken = 3;

function byLength({ said, defined }: Outline): TextCounts {
  return { said: tokensOf(said), defined: tokensOf(defined) };
}

function tokensOf(texts: readonly string[]): number {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return Math.ceil(bytes / bytesPerToken);
}
