import type { Citation, GenerationEvent, NativeState } from '#canonical/index.ts';
import { isRecord, type JsonRecord, optionalText } from '../../../shared/values.ts';
import { decodeAllCitations, decodeCitation, decodeOpaque } from '../blocks.ts';
import { redactedState, signatureState } from '../request/decode-content.ts';

type Emit = (event: GenerationEvent) => void;

/** A block of a streamed message between its start and its stop. */
export interface OpenOutput {
  delta(delta: JsonRecord, emit: Emit): void;
  end(emit: Emit): void;
}

export interface OutputState {
  /** The number of calls that have begun. */
  calls: number;
  /** No content has come yet, only frames of blocks. */
  isEmpty: boolean;
}

type Opener = (block: JsonRecord, state: OutputState, emit: Emit) => OpenOutput;

const blockEnd: GenerationEvent = Object.freeze({ type: 'block-end' });
const nothing = (): void => {};

const openers: Readonly<Record<string, Opener>> = {
  text: openText,
  thinking: openThinking,
  redacted_thinking: openRedacted,
  tool_use: openCall,
};

export function openOutput(block: JsonRecord, state: OutputState, emit: Emit): OpenOutput {
  const type = optionalText(block['type']) ?? 'unknown';
  const opener = Object.hasOwn(openers, type) ? openers[type] : undefined;
  return opener === undefined ? openWhole(block, type, state) : opener(block, state, emit);
}

/** The type of block for a delta without a block; null if the delta does not tell. */
export function openImplied(delta: JsonRecord, state: OutputState, emit: Emit): OpenOutput | null {
  switch (delta['type']) {
    case 'text_delta':
      return openText({}, state, emit);
    case 'thinking_delta':
    case 'signature_delta':
      return openThinking({}, state, emit);
    default:
      return null;
  }
}

function openText(block: JsonRecord, state: OutputState, emit: Emit): OpenOutput {
  let wrote = false;
  // Citations may come before their text, and need one to be attached to.
  const citations: (Citation | null)[] = decodeAllCitations(block['citations']);
  const write = (text: unknown, to: Emit): void => {
    if (typeof text !== 'string' || text === '') return;
    wrote = true;
    state.isEmpty = false;
    to({ type: 'text', text });
  };
  write(block['text'], emit);
  return {
    delta(delta, emit) {
      if (delta['type'] === 'citations_delta') {
        citations.push(decodeCitation(delta['citation']));
      } else write(delta['text'], emit);
    },
    end(emit) {
      if (!wrote) return;
      for (const citation of citations) emit({ type: 'citation', citation });
      emit(blockEnd);
    },
  };
}

function openThinking(block: JsonRecord, state: OutputState, emit: Emit): OpenOutput {
  let wrote = false;
  let signature: NativeState | null = signatureState(block['signature']);
  const write = (text: unknown, to: Emit): void => {
    if (typeof text !== 'string' || text === '') return;
    wrote = true;
    state.isEmpty = false;
    to({ type: 'reasoning', text });
  };
  write(block['thinking'], emit);
  return {
    delta(delta, emit) {
      if (delta['type'] === 'signature_delta') signature = signatureState(delta['signature']);
      else write(delta['thinking'], emit);
    },
    end(emit) {
      if (signature !== null) {
        state.isEmpty = false;
        emit({ type: 'state', state: signature });
      } else if (!wrote) return;
      emit(blockEnd);
    },
  };
}

function openRedacted(block: JsonRecord, state: OutputState): OpenOutput {
  return {
    delta: nothing,
    end(emit) {
      state.isEmpty = false;
      emit({ type: 'state', state: redactedState(optionalText(block['data']) ?? '') });
      emit(blockEnd);
    },
  };
}

/** Passes arguments on as they come. Some upstreams send them whole in the start. Missing arguments become `{}`. */
function openCall(block: JsonRecord, state: OutputState, emit: Emit): OpenOutput {
  const call = state.calls;
  state.calls += 1;
  state.isEmpty = false;
  emit({
    type: 'call-start',
    call,
    id: optionalText(block['id']),
    name: optionalText(block['name']) ?? '',
    kind: 'function',
  });
  let wrote = false;
  return {
    delta(delta, emit) {
      const text = delta['partial_json'];
      if (typeof text !== 'string' || text === '') return;
      wrote = true;
      emit({ type: 'call-arguments', call, text });
    },
    end(emit) {
      if (!wrote) {
        const { input } = block;
        const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
        emit({ type: 'call-arguments', call, text: text === '' ? '{}' : text });
      }
      emit({ type: 'call-end', call });
    },
  };
}

/** A block that only this protocol understands is passed on in one piece. */
function openWhole(block: JsonRecord, type: string, state: OutputState): OpenOutput {
  let json = '';
  const members: JsonRecord[] = [block];
  return {
    delta(delta) {
      const { type: kind, partial_json: text, ...others } = delta;
      if (typeof text === 'string') json += text;
      else if (kind !== undefined) members.push(others);
    },
    end(emit) {
      state.isEmpty = false;
      const input = parseInput(json);
      if (input !== null) members.push({ input });
      const value = Object.fromEntries(members.flatMap((each) => Object.entries(each)));
      emit({ type: 'block', block: decodeOpaque(value, type) });
    },
  };
}

function parseInput(text: string): JsonRecord | null {
  if (text === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    // The stream was cut in the middle. The block keeps its beginning.
    return null;
  }
}
