import type { Candidate, GenerationResponse, TokenUsage } from '#canonical/index.ts';
import type { ResponseContext } from '../../../codec.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { responsePart, withoutThoughts } from './response-part.ts';
import { encodeFinish, writeLogprobs, writeUsage } from './candidate-members.ts';

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
  const shown = hidesThoughts(context) ? blocks.map(withoutThoughts) : blocks;
  const parts = shown.map(responsePart).filter((part) => part !== null);
  const logprobs = blocks.flatMap((block) => (block.type === 'text' ? (block.logprobs ?? []) : []));
  return {
    content: { role: 'model', parts: parts.length > 0 ? parts : [emptyPart] },
    finishReason: encodeFinish(finish),
    index,
    ...writeLogprobs(logprobs),
  };
}
