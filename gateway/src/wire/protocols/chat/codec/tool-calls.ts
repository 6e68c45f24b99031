import type { NativeState, ToolCallBlock, Extension, GenerationRequest } from '#canonical/index.ts';
import { isEnvelope } from '../../shared/state/without-state.ts';
import { isRecord, type JsonRecord, recordAt, isAbsent, textOf } from '../../shared/values.ts';

/** One entry of `tool_calls`, complete or partial. Missing texts are empty. */
export interface CallParts {
  readonly id: string;
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly text: string;
}

/** Some servers send both members of an entry and leave the wrong one empty. */
export function readCallParts(entry: JsonRecord): CallParts {
  const custom = recordAt(entry, 'custom');
  const customName = visible(custom['name']);
  const isCustom = customName !== '' || (isRecord(entry['custom']) && !isRecord(entry['function']));
  if (isCustom) {
    return {
      id: visible(entry['id']),
      kind: 'custom',
      name: customName,
      text: textOf(custom['input']),
    };
  }
  const called = recordAt(entry, 'function');
  return {
    id: visible(entry['id']),
    kind: 'function',
    name: visible(called['name']),
    text: argumentsText(called['arguments']),
  };
}

/** A complete call; null if it names no tool. */
export function readCall(entry: unknown): ToolCallBlock | null {
  if (!isRecord(entry)) return null;
  const { id, kind, name, text: argumentText } = readCallParts(entry);
  if (name === '') return null;
  const state = callState(entry);
  return {
    type: 'tool-call',
    id: id === '' ? null : id,
    name,
    kind,
    arguments: argumentText,
    ...(state === undefined ? {} : { state }),
  };
}

/** The legacy single call, which has no id. Some servers send an empty one with every response. */
export function readFunctionCall(value: unknown): ToolCallBlock | null {
  return readCall({ function: value });
}

/**
 * Google's compatibility layer wants this signature back: https://ai.google.dev/gemini-api/docs/openai. Clients return an
 * envelope in the same place.
 */
export function callState(entry: JsonRecord): NativeState | undefined {
  if (!isRecord(entry['extra_content'])) return undefined;
  const signature = textOf(recordAt(entry['extra_content'], 'google')['thought_signature']);
  if (signature === '') return undefined;
  const kind = isEnvelope(signature) ? 'envelope' : 'thought-signature';
  return { protocol: 'chat', kind, data: signature };
}

/**
 * The members of a `tool_calls` entry for that state, or for an envelope: most clients return a call as a whole, whatever
 * they do with the rest of a message.
 */
export function stateMembers(state: NativeState | undefined): JsonRecord {
  if (state?.protocol !== 'chat' || state.kind === 'encrypted') return {};
  return { extra_content: { google: { thought_signature: state.data } } };
}

/** A `tool_calls` entry. Missing arguments become an empty object, because clients parse them as JSON. */
export function writeCall(call: ToolCallBlock, id: string): JsonRecord {
  const { name } = call;
  if (call.kind === 'custom') {
    return { id, type: 'custom', custom: { name, input: call.arguments } };
  }
  return {
    id,
    type: 'function',
    function: { name, arguments: call.arguments === '' ? '{}' : call.arguments },
    ...stateMembers(call.state),
  };
}

function argumentsText(value: unknown): string {
  return isRecord(value) ? JSON.stringify(value) : textOf(value);
}

/** An id or a name. Some servers send blanks in their place. */
function visible(value: unknown): string {
  const writtenText = textOf(value);
  return writtenText.trim() === '' ? '' : writtenText;
}

/**
 * Clients older than `tools` declare `functions`, and read one `function_call` without an id in place of `tool_calls`.
 * They could not act on more calls than they can read.
 */
export const legacyCalls = 'functions';

/** Whether the request declares its functions in the legacy form. */
export function declaresLegacy(json: JsonRecord): boolean {
  const { tools, functions } = json;
  return isAbsent(tools) && Array.isArray(functions) && functions.length > 0;
}

/** Marks the request, for its response. */
export function legacyExtension(json: JsonRecord): Extension[] {
  if (!declaresLegacy(json)) return [];
  return [{ protocol: 'chat', name: legacyCalls, value: true, ifForeign: 'ignore' }];
}

export function wantsFunctionCall({ extensions }: Pick<GenerationRequest, 'extensions'>): boolean {
  return extensions.some(isLegacyMark);
}

/** Whether `legacyExtension` made it. */
export function isLegacyMark({ protocol, name }: Extension): boolean {
  return protocol === 'chat' && name === legacyCalls;
}
