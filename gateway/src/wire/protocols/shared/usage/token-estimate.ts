import type { WireRequest } from '../../protocol.ts';
import { isRecord } from '../values.ts';

/*
 * A rough count for responses whose upstream reported no usage: one token per four bytes of text, slightly more than
 * English needs and less than most other scripts do. A tokenizer would block the thread for every abandoned response.
 */

export const bytesPerToken = 4;
/** Tokens that providers charge for an image of usual size. */
const tokensPerMedium = 1_000;
/** Base64 of at least this length is media, not text. */
const mediumLength = 1_000;
const base64 = /^[A-Za-z0-9+/_-]{1000}/;

/** Members that frame or describe a response, as opposed to its content. */
const framing: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'status',
  'object',
  'model',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'finish_reason',
  'stop_reason',
  'finishReason',
  'mimeType',
  'media_type',
  'signature',
  'encrypted_content',
  'thoughtSignature',
  'safetyRatings',
  'groundingMetadata',
  'logprobs',
  'logprobsResult',
]);

/** @param bytes of text, reasoning and tool arguments, UTF-8 */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

/**
 * The tokens of a request, by the bytes of its body, names of members included, without the media in the places that
 * the protocol has for media. Text that merely looks like media counts as text: otherwise it would cost almost nothing
 * when the client disconnects early.
 * @param imageTokens the model's tokens for an image of usual size
 */
export function estimateInputTokens(
  { body, extent }: Pick<WireRequest, 'body' | 'extent'>,
  imageTokens = tokensPerMedium,
): number {
  const textBytes = Math.max(0, body.length - extent.imageBytes - extent.fileBytes);
  return estimateTokens(textBytes) + extent.images * imageTokens + extent.fileTokens;
}

/** The tokens of a parsed response of any text protocol. */
export function estimateOutputTokens(response: unknown): number {
  if (!isRecord(response)) return 0;
  const { choices, output, content, candidates } = response;
  return tokensIn([choices, output, content, candidates]);
}

function tokensIn(root: unknown): number {
  let bytes = 0;
  let media = 0;
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string') {
      if (isMedium(value)) media += 1;
      else bytes += Buffer.byteLength(value);
    } else if (Array.isArray(value)) {
      for (const item of value) waiting.push(item);
    } else if (isRecord(value)) {
      for (const key in value) if (!framing.has(key)) waiting.push(value[key]);
    }
  }
  return estimateTokens(bytes) + media * tokensPerMedium;
}

function isMedium(text: string): boolean {
  return text.length >= mediumLength && (text.startsWith('data:') || base64.test(text));
}
