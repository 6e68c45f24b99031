import { skipSignature } from '../../shared/state/without-state.ts';
import { namedStateReader } from '../../shared/state/named-state.ts';
import { type JsonRecord, isRecord } from '../../shared/values.ts';

/** The members of a request that name something stored upstream. */
export const readNamedState = namedStateReader({
  root: { previous_response_id: { kind: 'response' } },
  anywhere: {
    file_id: { kind: 'file' },
    file_ids: { kind: 'file' },
    vector_store_ids: { kind: 'vector-store' },
    container_id: { kind: 'container' },
    // In messages an earlier spoken response; elsewhere the settings of the voice.
    audio: { kind: 'audio', objectOnly: true },
    // A string is the name of one of the vendor's voices.
    voice: { kind: 'voice', objectOnly: true },
  },
  opaque: [
    'parameters',
    'schema',
    'json_schema',
    'arguments',
    'metadata',
    'annotations',
    'logit_bias',
  ],
});

/** `Protocol.leaveOutState`. */
export function leaveOutState({ messages }: JsonRecord, take: () => boolean): JsonRecord {
  return Array.isArray(messages) ? { messages: messages.map((each) => message(each, take)) } : {};
}

function message(value: unknown, take: () => boolean): unknown {
  if (!isRecord(value)) return value;
  const { reasoning_details: details, thinking_blocks: blocks, ...rest } = value;
  const calls = Array.isArray(value['tool_calls']) ? (value['tool_calls'] as unknown[]) : [];
  const isSigned = calls.some((call) => signatureOf(call) !== null);
  if ((details === undefined && blocks === undefined && !isSigned) || !take()) return value;
  if (!isSigned) return rest;
  return {
    ...rest,
    tool_calls: calls.map((call) => {
      if (signatureOf(call) === null) return call;
      return {
        ...(call as JsonRecord),
        extra_content: { google: { thought_signature: skipSignature } },
      };
    }),
  };
}

/** Gemini's signature of a call in chat; null if it has none. */
function signatureOf(call: unknown): string | null {
  const extra = isRecord(call) ? call['extra_content'] : null;
  const google = isRecord(extra) ? extra['google'] : null;
  const signature = isRecord(google) ? google['thought_signature'] : null;
  return typeof signature === 'string' && signature !== skipSignature ? signature : null;
}
