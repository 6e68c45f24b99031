import type { Extension, ReasoningRequest } from '#canonical/index.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { optionalNumber, optionalText, ownExtension } from '../../wire.ts';

interface Decoded {
  readonly reasoning: ReasoningRequest | null;
  readonly extension: Extension | null;
}

const efforts = new Set<string>(['low', 'medium', 'high', 'xhigh', 'max']);
const shown: Readonly<Record<string, boolean>> = { summarized: true, omitted: false };

/**
 * Reads `thinking` and `output_config.effort` as one setting. Combinations without a canonical form (an effort without
 * thinking, an unknown kind of thinking) become extensions for this protocol.
 * @throws GatewayError `invalid_value`.
 */
export function decodeReasoning(thinking: unknown, outputConfig: JsonRecord): Decoded {
  const level = optionalText(outputConfig['effort']);
  const effort =
    level !== null && efforts.has(level) ? (level as ReasoningRequest['effort']) : null;
  if (!isRecord(thinking)) {
    if (effort === null) return { reasoning: null, extension: null };
    return {
      reasoning: { mode: 'on', effort, budget: null, show: null },
      extension: ownExtension('thinking', null, 'ignore'),
    };
  }
  const { type, display } = thinking;
  const shows =
    typeof display === 'string' && Object.hasOwn(shown, display) ? shown[display] : null;
  const budget = optionalNumber(thinking['budget_tokens'], 'thinking.budget_tokens');
  const reasoning: ReasoningRequest = {
    mode: type === 'disabled' ? 'off' : 'on',
    effort,
    budget: type === 'enabled' ? budget : null,
    // A display that the gateway does not know (`updates`) shows something.
    show: shows ?? (typeof display === 'string' ? true : null),
  };
  const isPlain = type === 'enabled' || type === 'adaptive' || type === 'disabled';
  const isPlainDisplay = shows !== null || display === undefined || display === null;
  const fate = isPlain ? 'ignore' : 'approximate';
  const extension = isPlain && isPlainDisplay ? null : ownExtension('thinking', thinking, fate);
  return { reasoning, extension };
}
