import type {
  Candidate,
  GenerationResponse,
  TokenUsage,
  Block,
  ToolCallBlock,
} from '#canonical/index.ts';
import type { ResponseContext } from '../../../codec.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { encodeFinish, writeLogprobs, writeUsage } from './candidate-members.ts';
import { dataPart } from '../request/encode-part.ts';
import { readArguments, clientSignature, textPart } from '../parts.ts';

export function encodeResponse(
  response: GenerationResponse,
  usage: TokenUsage | null,
  context: ResponseContext,
): JsonRecord {
  const { candidates } = response;
  const isBlocked = candidates.length > 0 && candidates.every(isRefusedPrompt);
  return {
    ...(isBlocked
      ? { promptFeedback }
      : { candidates: candidates.map((candidate, index) => encode(candidate, index, context)) }),
    ...(usage === null ? {} : { usageMetadata: writeUsage(usage) }),
    ...responseMembers(context),
  };
}

/** The members that describe every chunk and every whole response. */
export function responseMembers(context: ResponseContext): JsonRecord {
  return { modelVersion: context.model, responseId: context.requestId.replace(/^req_/, '') };
}

/** Other protocols give no reason for a blocked prompt. */
export const promptFeedback: JsonRecord = Object.freeze({ blockReason: 'OTHER' });

/** The part of a candidate without any: clients read the first one without checking. */
export const emptyPart: JsonRecord = Object.freeze({ text: '' });

function isRefusedPrompt({ blocks, finish }: Candidate): boolean {
  return finish.reason === 'blocked' && blocks.length === 0;
}

export function hidesThoughts(context: ResponseContext): boolean {
  return context.request.reasoning?.show === false;
}

function encode(
  { blocks, finish }: Candidate,
  index: number,
  context: ResponseContext,
): JsonRecord {
  const shownBlocks = hidesThoughts(context) ? blocks.map(withoutThoughts) : blocks;
  const parts = shownBlocks.map(responsePart).filter((part) => part !== null);
  const logprobs = blocks.flatMap((block) => (block.type === 'text' ? (block.logprobs ?? []) : []));
  return {
    content: { role: 'model', parts: parts.length > 0 ? parts : [emptyPart] },
    finishReason: encodeFinish(finish),
    index,
    ...writeLogprobs(logprobs),
  };
}

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
