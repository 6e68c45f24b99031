import type { Finish, FinishReason } from '#canonical/index.ts';
import { readEnding } from '../../../shared/text/endings.ts';

/** Reasons that only mean that the model was done: the content decides. */
const plain: ReadonlySet<FinishReason> = new Set<FinishReason>(['end', 'tool', 'other']);

/** The content of a response, as far as its finish depends on it. */
export interface Delivered {
  readonly calls: boolean;
  readonly text: boolean;
  readonly refusal: boolean;
}

/**
 * Why a response ended. Servers send `stop` after tool calls, `tool_calls` without any, an empty text, or nothing.
 * @param reason `finish_reason` as received; null if absent
 * @param stopReason vLLM's `stop_reason`: the stop sequence, or a token's number
 */
export function readFinish(
  reason: string | null,
  stopReason: unknown,
  delivered: Delivered,
): Finish {
  if (reason === null || reason === '') return finishOf(unnamed(delivered), stopReason, delivered);
  const { reason: namedReason, ...guess } = readEnding(reason);
  return { ...finishOf(namedReason, stopReason, delivered), ...guess };
}

function finishOf(namedReason: FinishReason, stopReason: unknown, delivered: Delivered): Finish {
  if (
    namedReason === 'end' &&
    typeof stopReason === 'string' &&
    stopReason !== '' &&
    !delivered.calls
  ) {
    return { reason: 'stop-sequence', stopSequence: stopReason };
  }
  if (!plain.has(namedReason)) return { reason: namedReason };
  if (delivered.calls) return { reason: 'tool' };
  if (namedReason === 'tool') return { reason: 'end' };
  return namedReason === 'end' && delivered.refusal && !delivered.text
    ? { reason: 'refused' }
    : { reason: namedReason };
}

/** Without a reason, the content decides. No content is no response. */
function unnamed({ calls, text, refusal }: Delivered): FinishReason {
  return calls || text || refusal ? 'end' : 'other';
}

const words: Readonly<Record<FinishReason, string>> = Object.freeze({
  end: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'context-full': 'length',
  tool: 'stop',
  filtered: 'content_filter',
  refused: 'stop',
  pause: 'stop',
  blocked: 'content_filter',
  other: 'stop',
});

/** The form in which the client gets the calls. */
export type CallKind = 'none' | 'tools' | 'function';

/** `tool_calls` if and only if there are calls that the client can act on. */
export function writeFinish(finish: Finish | null, callKind: CallKind): string {
  const word = words[finish?.reason ?? 'end'];
  if (word !== 'stop' || callKind === 'none') return word;
  return callKind === 'tools' ? 'tool_calls' : 'function_call';
}
