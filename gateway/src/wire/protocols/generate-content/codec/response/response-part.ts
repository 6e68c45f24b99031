import type { Block, ToolCallBlock } from '#canonical/index.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { dataPart } from '../request/encode-part.ts';
import { readArguments } from '../function-response.ts';
import { clientSignature, textPart } from '../parts.ts';

/** Encodes a block of a response as a part; null if it means nothing to this protocol's clients. */
export function responsePart(block: Block): JsonRecord | null {
  const signature = clientSignature(block.state);
  const part = contentOf(block, signature !== undefined);
  if (part === null || signature === undefined) return part;
  return { ...part, thoughtSignature: signature };
}

function contentOf(block: Block, isSigned: boolean): JsonRecord | null {
  switch (block.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return textPart(block, isSigned);
    case 'tool-call':
      return callPart(block);
    case 'image':
    case 'audio':
    case 'video':
    case 'file':
      // Clients cannot fetch what another provider stores.
      return dataPart(block.source);
    case 'opaque':
      if (block.protocol === 'generate-content') return block.value as JsonRecord;
      return block.text === undefined || block.text === '' ? null : { text: block.text };
    case 'tool-result':
      return null;
  }
}

/** A complete call, whatever text the model wrote as its arguments. */
export function callPart(call: Pick<ToolCallBlock, 'id' | 'name' | 'arguments'>): JsonRecord {
  const { id, name } = call;
  const { args } = readArguments(call.arguments);
  return { functionCall: id === null ? { name, args } : { id, name, args } };
}

/** Hides reasoning from a client that asked for that. The client still has to return the signature. */
export function withoutThoughts(block: Block): Block {
  return block.type === 'reasoning' ? { ...block, text: '' } : block;
}
