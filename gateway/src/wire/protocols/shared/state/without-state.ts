import type { TextProtocolName } from '#canonical/index.ts';
import { isRecord, type JsonRecord } from '../values.ts';

/** A request's members without reasoning state of its history, and how many of its carriers were left out. */
interface Stripped {
  readonly json: JsonRecord;
  readonly leftOut: number;
}

/**
 * A placeholder for a required signature that is not available; clients write it as well:
 * https://ai.google.dev/gemini-api/docs/thought-signatures.
 */
export const skipSignature = 'skip_thought_signature_validator';

/**
 * Leaves out the reasoning state of the history, oldest first: blocks and items that are nothing without it, else only the
 * member. What is not reasoning stays.
 * @param most this many carriers of state at most; later ones are the upstream's own
 */
export function withoutState(protocol: TextProtocolName, json: JsonRecord, most: number): Stripped {
  let leftOut = 0;
  const take = (): boolean => {
    if (leftOut === most) return false;
    leftOut += 1;
    return true;
  };
  const changed = strippers[protocol](json, take);
  return { json: { ...json, ...changed }, leftOut };
}

/** Asked for each carrier in turn: whether it is left out. */
type Take = () => boolean;

const strippers: Readonly<Record<TextProtocolName, (json: JsonRecord, take: Take) => JsonRecord>> =
  {
    responses: ({ input }, take) => (Array.isArray(input) ? { input: items(input, take) } : {}),
    messages: ({ messages }, take) =>
      Array.isArray(messages) ? { messages: messages.flatMap((each) => turn(each, take)) } : {},
    'generate-content': ({ contents }, take) =>
      Array.isArray(contents) ? { contents: contents.map((each) => content(each, take)) } : {},
    chat: ({ messages }, take) =>
      Array.isArray(messages) ? { messages: messages.map((each) => message(each, take)) } : {},
  };

/** Items that an upstream refuses under their id without the reasoning before them. */
const reasoned: ReadonlySet<unknown> = new Set(['message', 'function_call', 'custom_tool_call']);

function items(input: readonly unknown[], take: Take): unknown[] {
  let isBare = false;
  return input.flatMap((item) => {
    if (!isRecord(item)) return [item];
    if (item['type'] === 'reasoning' || isReference(item)) {
      isBare = take();
      return isBare ? [] : [item];
    }
    if (!isBare || !reasoned.has(item['type'])) return [item];
    const { id: _, ...rest } = item;
    return [rest];
  });
}

function isReference({ type, id }: JsonRecord): boolean {
  return type === 'item_reference' && typeof id === 'string' && id.startsWith('rs_');
}

/** Nothing for a message that consisted of thinking: it must not be empty. */
function turn(message: unknown, take: Take): unknown[] {
  if (!isRecord(message) || !Array.isArray(message['content'])) return [message];
  const blocks = message['content'] as readonly unknown[];
  const kept = blocks.filter((block) => {
    const isThinking =
      isRecord(block) && (block['type'] === 'thinking' || block['type'] === 'redacted_thinking');
    return !isThinking || !take();
  });
  if (kept.length === blocks.length) return [message];
  return kept.length === 0 ? [] : [{ ...message, content: kept }];
}

function content(value: unknown, take: Take): unknown {
  if (!isRecord(value) || !Array.isArray(value['parts'])) return value;
  const parts = (value['parts'] as readonly unknown[]).flatMap((part) => {
    if (!isRecord(part)) return [part];
    const { thoughtSignature, thought_signature: snake, ...rest } = part;
    const signature = thoughtSignature ?? snake;
    if (typeof signature !== 'string' || signature === skipSignature || !take()) return [part];
    if ('functionCall' in rest || 'function_call' in rest) {
      return [{ ...rest, thoughtSignature: skipSignature }];
    }
    const isEmpty = Object.entries(rest).every(
      ([name, member]) => name === 'thought' || member === '',
    );
    return isEmpty ? [] : [rest];
  });
  return { ...value, parts };
}

function message(value: unknown, take: Take): unknown {
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

/** Whether a text looks like an envelope around reasoning state, sealed for a client. It may still fail to open. */
export function isEnvelope(text: string): boolean {
  return text.startsWith('gw2.');
}
