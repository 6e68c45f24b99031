import type { WireRequest } from './protocol.ts';
import { isRecord } from './values.ts';

/*
 * A rough count for answers whose upstream did not say what it used: one token for four bytes of text, which is a
 * little more than English takes and less than most other scripts do. Reading the text with a tokenizer would hold
 * up the thread for every abandoned answer.
 */

const bytesPerToken = 4;
/** What providers charge for an image of usual size. */
const tokensPerMedium = 1_000;
/** A string of base64 this long is a medium and not text. */
const mediumLength = 1_000;
const base64 = /^[A-Za-z0-9+/_-]{1000}/;

/** Members of an answer that frame it, or tell about it, rather than say something in it. */
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
 * The tokens of a request: its body's bytes, names of members and all, but for the media that stand where the protocol
 * has media. What only looks like a medium is text: who leaves an answer early would pay next to nothing for it.
 * @param imageTokens what the model takes for a picture of usual size
 */
export function estimateInputTokens(
  { body, extent }: Pick<WireRequest, 'body' | 'extent'>,
  imageTokens = tokensPerMedium,
): number {
  const said = Math.max(0, body.length - extent.imageBytes - extent.fileBytes);
  return estimateTokens(said) + extent.images * imageTokens + extent.fileTokens;
}

/** The tokens of a parsed answer of any of the text protocols. */
export function estimateOutputTokens(answer: unknown): number {
  if (!isRecord(answer)) return 0;
  const { choices, output, content, candidates } = answer;
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
