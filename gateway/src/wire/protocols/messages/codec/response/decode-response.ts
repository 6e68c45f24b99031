import type { Block, GenerationResponse } from '#canonical/index.ts';
import { isRecord, type JsonRecord, optionalText } from '../../../shared/values.ts';
import { decodeAllCitations, decodeOpaque } from '../blocks.ts';
import { reasoningBlock, redactedState, signatureState } from '../request/decode-content.ts';
import { decodeFinish } from './finish.ts';

/** Decodes a message. Missing members count as empty, since some upstreams only resemble this protocol. */
export function decodeResponse(json: JsonRecord): GenerationResponse {
  const content = Array.isArray(json['content']) ? json['content'] : [];
  const blocks = content.flatMap((block: unknown) =>
    isRecord(block) ? (decodeOutput(block) ?? []) : [],
  );
  const hasCalls = blocks.some(({ type }) => type === 'tool-call');
  const finish = decodeFinish(json['stop_reason'], json['stop_sequence'], {
    hasCalls,
    isEmpty: blocks.length === 0,
  });
  return { candidates: [{ blocks, finish: finish ?? { reason: 'other' } }], extensions: [] };
}

const decoders: Readonly<Record<string, (block: JsonRecord) => Block | null>> = {
  text: decodeText,
  thinking: decodeThinking,
  redacted_thinking: (block) =>
    reasoningBlock('', redactedState(optionalText(block['data']) ?? '')),
  tool_use: decodeCall,
};

function decodeOutput(block: JsonRecord): Block | null {
  const type = optionalText(block['type']) ?? 'unknown';
  const decode = Object.hasOwn(decoders, type) ? decoders[type] : undefined;
  return decode === undefined ? decodeOpaque(block, type) : decode(block);
}

function decodeText(block: JsonRecord): Block | null {
  const text = optionalText(block['text']) ?? '';
  if (text === '') return null;
  const all = decodeAllCitations(block['citations']);
  const citations = all.filter((citation) => citation !== null);
  return {
    type: 'text',
    text,
    ...(citations.length > 0 && { citations }),
    ...(citations.length < all.length && { citesOwn: true }),
  };
}

function decodeThinking(block: JsonRecord): Block | null {
  const text = optionalText(block['thinking']) ?? '';
  const state = signatureState(block['signature']);
  return text === '' && state === null ? null : reasoningBlock(text, state);
}

function decodeCall(block: JsonRecord): Block {
  const { input } = block;
  return {
    type: 'tool-call',
    id: optionalText(block['id']),
    name: optionalText(block['name']) ?? '',
    kind: 'function',
    arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
  };
}
