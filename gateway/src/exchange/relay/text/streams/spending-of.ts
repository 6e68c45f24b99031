import { tokenBounds, type Hold } from '#billing/index.ts';
import { bytesPerToken, type StreamTap } from '#protocols/index.ts';
import { measureText } from '../measure-text.ts';
import type { TextParts } from '../parts.ts';
import type { PreparedText } from '../prepared.ts';
import type { TextSent } from '../text-sent.ts';
import { usageOfLeaving, withHiddenReasoning } from '../usage.ts';
import { Spending, type SpendingOptions } from './spending.ts';

/** More is held for as much output as a request without a limit is held for. */
const ahead = 16_384 * bytesPerToken;

/** Follows what one streamed response costs; null if it costs nothing. */
export function spendingOf(
  { billing, overshoot }: Pick<TextParts, 'billing' | 'overshoot'>,
  hold: Hold | null,
  prepared: PreparedText,
  sent: TextSent,
): ((tap: StreamTap, rest: Pick<SpendingOptions, 'end' | 'onDefect'>) => Spending) | null {
  if (hold === null) return null;
  const { model, request } = prepared;
  const bounds = tokenBounds(model, {
    bodyBytes: 0,
    outputLimit: request.maxOutputTokens,
    choices: request.choices,
  });
  const coveredBytes = hold.isShort ? 0 : Number(bounds.output) * bytesPerToken;
  return (tap, rest) =>
    new Spending({
      held: () => hold.amount,
      costAt(outputBytes) {
        const { webSearches } = tap;
        const known = withHiddenReasoning(tap.usage, prepared, sent);
        const used = usageOfLeaving(known, prepared, { outputBytes, webSearches });
        return billing.costOf(hold, measureText(used, prepared, sent).lines);
      },
      draw: (amount) => billing.draw(hold, amount),
      overshoot,
      ahead,
      coveredBytes,
      outputBytes: () => tap.outputBytes,
      ...rest,
    });
}
