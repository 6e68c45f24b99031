import type { Finish, FinishReason } from '#canonical/index.ts';
import { readEnding } from '../../../shared/text/endings.ts';
import { isAbsent, optionalText } from '../../../shared/values.ts';

/** The content of a response, to check its reason: clients act on the reason alone. */
export interface Outcome {
  readonly hasCalls: boolean;
  readonly isEmpty: boolean;
}

/** Null if the upstream gave no reason. */
export function decodeFinish(reason: unknown, sequence: unknown, outcome: Outcome): Finish | null {
  if (isAbsent(reason)) return null;
  const { reason: namedReason, ...guess } = readEnding(typeof reason === 'string' ? reason : '');
  return { ...finishOf(namedReason, sequence, outcome), ...guess };
}

function finishOf(
  namedReason: FinishReason,
  sequence: unknown,
  { hasCalls, isEmpty }: Outcome,
): Finish {
  switch (namedReason) {
    case 'end':
      return { reason: hasCalls ? 'tool' : 'end' };
    case 'tool':
      return { reason: hasCalls ? 'tool' : 'end' };
    case 'filtered':
      return { reason: isEmpty ? 'blocked' : 'filtered' };
    case 'stop-sequence': {
      const stopSequence = optionalText(sequence);
      return stopSequence === null
        ? { reason: namedReason }
        : { reason: namedReason, stopSequence };
    }
    default:
      return { reason: namedReason };
  }
}

const stopReasons: Readonly<Record<FinishReason, string>> = {
  end: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'context-full': 'model_context_window_exceeded',
  tool: 'tool_use',
  filtered: 'refusal',
  refused: 'end_turn',
  pause: 'pause_turn',
  blocked: 'refusal',
  other: 'end_turn',
};

export interface WireFinish {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly stop_details: object | null;
}

/** `tool_use` exactly if there is a call to make, unless the response was cut. */
export function encodeFinish({ reason, stopSequence }: Finish, hasCalls: boolean): WireFinish {
  const stopWord = stopReasons[reason];
  const isPlain = stopWord === 'end_turn' || stopWord === 'tool_use';
  const stopReason = isPlain ? (hasCalls ? 'tool_use' : 'end_turn') : stopWord;
  const isRefusal = stopReason === 'refusal';
  return {
    stop_reason: stopReason,
    stop_sequence: stopReason === 'stop_sequence' ? (stopSequence ?? null) : null,
    stop_details: isRefusal ? { type: 'refusal', category: null, explanation: null } : null,
  };
}
