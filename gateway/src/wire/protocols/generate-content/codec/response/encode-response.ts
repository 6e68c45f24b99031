import type { Candidate, GenerationResponse, TokenUsage } from '#canonical/index.ts';
import type { ResponseContext } from '../../../codec.ts';
import type { JsonRecord } from '../../../values.ts';
import { responsePart, withoutThoughts } from './response-part.ts';
import { encodeFinish } from './finish.ts';
import { writeLogprobs } from './logprobs.ts';
import { writeUsage } from './write-usage.ts';

export function encodeResponse(
  response: GenerationResponse,
  usage: TokenUsage | null,
  answer: ResponseContext,
): JsonRecord {
  const { candidates } = response;
  const isBlocked = candidates.length > 0 && candidates.every(isRefusedPrompt);
  return {
    ...(isBlocked
      ? { promptFeedback }
      : { candidates: candidates.map((candidate, index) => encode(candidate, index, answer)) }),
    ...(usage === null ? {} : { usageMetadata: writeUsage(usage) }),
    ...answerMembers(answer),
  };
}

/** The members that describe every chunk and every whole response. */
export function answerMembers(answer: ResponseContext): JsonRecord {
  return { modelVersion: answer.model, responseId: answer.requestId.replace(/^req_/, '') };
}

/** Other protocols give no reason for a blocked prompt. */
export const promptFeedback: JsonRecord = Object.freeze({ blockReason: 'OTHER' });

/** The part of a candidate without any: clients read the first one without checking. */
export const emptyPart: JsonRecord = Object.freeze({ text: '' });

function isRefusedPrompt({ blocks, finish }: Candidate): boolean {
  return finish.reason === 'blocked' && blocks.length === 0;
}

export function hidesThoughts(answer: ResponseContext): boolean {
  return answer.request.reasoning?.show === false;
}

function encode({ blocks, finish }: Candidate, index: number, answer: ResponseContext): JsonRecord {
  const shown = hidesThoughts(answer) ? blocks.map(withoutThoughts) : blocks;
  const parts = shown.map(responsePart).filter((part) => part !== null);
  const logprobs = blocks.flatMap((block) => (block.type === 'text' ? (block.logprobs ?? []) : []));
  return {
    content: { role: 'model', parts: parts.length > 0 ? parts : [emptyPart] },
    finishReason: encodeFinish(finish),
    index,
    ...writeLogprobs(logprobs),
  };
}
