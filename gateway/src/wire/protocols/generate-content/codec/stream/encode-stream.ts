import type { GenerationEvent, TokenUsage } from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { ResponseContext, StreamEncoder } from '../../../codec.ts';
import { frame } from '../../../shared/text/events.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { CandidateEncoder } from './candidate-encoder.ts';
import {
  responseMembers,
  emptyPart,
  hidesThoughts,
  promptFeedback,
} from '../response/encode-response.ts';
import { encodeStreamError } from '../../errors.ts';
import { writeUsage } from '../response/write-usage.ts';

/** Writes frames. Each is a response with the new parts; the last one ends all candidates. */
export function createStreamEncoder(context: ResponseContext): StreamEncoder {
  const members = responseMembers(context);
  const tail = `],${JSON.stringify(members).slice(1)}`;
  const hidden = hidesThoughts(context);
  /** By their index. */
  const candidates = new Map<number, CandidateEncoder>();
  let isOver = false;

  const candidateOf = (index: number): CandidateEncoder => {
    let candidate = candidates.get(index);
    if (candidate === undefined) {
      candidate = new CandidateEncoder(index, tail, hidden);
      candidates.set(index, candidate);
    }
    return candidate;
  };

  return {
    push(event: GenerationEvent): string {
      return isOver ? '' : candidateOf(event.choice ?? 0).push(event);
    },
    end(usage: TokenUsage | null): string {
      if (isOver) return '';
      isOver = true;
      const all = [...candidates.values()].toSorted((a, b) => a.index - b.index);
      const isBlocked = all.length > 0 && all.every((candidate) => candidate.isRefusedPrompt);
      const held = isBlocked ? '' : all.map((candidate) => candidate.flush()).join('');
      const last: JsonRecord = {
        ...(isBlocked ? { promptFeedback } : { candidates: ends(all) }),
        ...(usage === null ? {} : { usageMetadata: writeUsage(usage) }),
        ...members,
      };
      return held + frame(null, JSON.stringify(last));
    },
    fail(error: GatewayError): string {
      isOver = true;
      return encodeStreamError(error);
    },
  };
}

/** Even an empty response has an end. */
function ends(candidates: readonly CandidateEncoder[]): JsonRecord[] {
  if (candidates.length > 0) return candidates.map((candidate) => candidate.end());
  return [{ content: { role: 'model', parts: [emptyPart] }, finishReason: 'STOP', index: 0 }];
}
