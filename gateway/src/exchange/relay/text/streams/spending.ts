import { type Hold, tokenBounds } from '#billing/index.ts';
import type { GatewayError } from '#errors/index.ts';
import { bytesPerToken, type StreamTap } from '#protocols/index.ts';
import type { TextParts, TextSent } from '../input.ts';
import { measureText, usageOfLeaving, withHiddenReasoning } from '../measure-text.ts';
import type { PreparedText } from '../prepared.ts';

/** What a running stream may cost. Amounts are nano-USD. */
export interface SpendingOptions {
  /** Held so far. */
  readonly heldAmount: () => bigint;
  /** An estimate of what the stream costs with this many bytes of output. */
  readonly costAt: (outputBytes: number) => bigint;
  /** Holds more. Resolves to the error of the exhausted limit if nothing is left, or to `unavailable`. */
  readonly draw: (amount: bigint) => GatewayError | null | Promise<GatewayError | null>;
  /** What the stream may cost beyond what is left. */
  readonly overshoot: bigint;
  /** What is drawn beyond the need of the moment: as many bytes of output. */
  readonly ahead: number;
  /** Up to here the hold covers the output in any case. */
  readonly coveredBytes: number;
  readonly outputBytes: () => number;
  /** Ends the stream. */
  readonly end: (error: GatewayError) => void;
  readonly onDefect: (error: unknown) => void;
}

/** Between two looks at a stream's cost, at least. */
const leastStep = 1_024;
/** Many bytes, over which the cost of one is measured. */
const many = 4_000_000;

/**
 * Follows what a stream costs, by a running estimate. Before it passes its hold, more is drawn. If nothing can be drawn and
 * the stream is beyond by the overshoot, it is ended.
 */
export class Spending {
  /** The bytes of output from which `look` has to be called. */
  next: number;
  readonly #options: SpendingOptions;

  constructor(options: SpendingOptions) {
    this.#options = options;
    this.next = options.coveredBytes;
  }

  look(): void {
    const { heldAmount, costAt, draw, ahead, outputBytes, onDefect } = this.#options;
    const bytes = outputBytes();
    const cost = costAt(bytes);
    if (cost <= heldAmount()) {
      this.#wait(heldAmount() - cost);
      return;
    }
    // Nothing is looked at while more is being drawn.
    this.next = Infinity;
    const wantedAmount = costAt(bytes + ahead) - heldAmount();
    const drawing = draw(wantedAmount > 0n ? wantedAmount : 1n);
    if (drawing instanceof Promise) drawing.then((error) => this.#onDrawn(error), onDefect);
    else this.#onDrawn(drawing);
  }

  #onDrawn(error: GatewayError | null): void {
    const { heldAmount, costAt, overshoot, outputBytes, end } = this.#options;
    const cost = costAt(outputBytes());
    const most = error === null ? heldAmount() : heldAmount() + overshoot;
    if (cost <= most || error === null) this.#wait(most - cost);
    else end(error);
  }

  /** Waits until this much more may have been spent. */
  #wait(room: bigint): void {
    const { costAt, outputBytes } = this.#options;
    const bytes = outputBytes();
    const price = costAt(bytes + many) - costAt(bytes);
    if (price <= 0n) {
      this.next = Infinity;
      return;
    }
    const step = room <= 0n ? 0 : Number((room * BigInt(many)) / price);
    this.next = bytes + Math.max(leastStep, step);
  }
}

/** More is held for as much output as a request without a limit is held for. */
const ahead = 16_384 * bytesPerToken;

/** Follows what one streamed response costs; null if it costs nothing. */
export function spendingOf(
  { billing, overshoot }: Pick<TextParts, 'billing' | 'overshoot'>,
  hold: Hold | null,
  preparedText: PreparedText,
  sentRequest: TextSent,
): ((tap: StreamTap, rest: Pick<SpendingOptions, 'end' | 'onDefect'>) => Spending) | null {
  if (hold === null) return null;
  const { model, request } = preparedText;
  const bounds = tokenBounds(model, {
    bodyBytes: 0,
    outputLimit: request.maxOutputTokens,
    choices: request.choices,
  });
  const coveredBytes = hold.isShort ? 0 : Number(bounds.output) * bytesPerToken;
  return (tap, rest) =>
    new Spending({
      heldAmount: () => hold.amount,
      costAt(outputBytes) {
        const { webSearches } = tap;
        const knownUsage = withHiddenReasoning(tap.usage, preparedText, sentRequest);
        const textUsage = usageOfLeaving(knownUsage, preparedText, { outputBytes, webSearches });
        return billing.costOf(hold, measureText(textUsage, preparedText, sentRequest).lines);
      },
      draw: (amount) => billing.extend(hold, amount),
      overshoot,
      ahead,
      coveredBytes,
      outputBytes: () => tap.outputBytes,
      ...rest,
    });
}
