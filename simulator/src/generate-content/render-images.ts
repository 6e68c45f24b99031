import type { WireEvent } from '../http/reply.ts';
import type { JsonObject } from '../json.ts';
import { imageTokens, type Question } from '../scenario/question.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { ImageCandidate } from './image-candidates.ts';
import { blocked, renderUsage } from './render.ts';

/** What an image model responds. `candidates` is null if the filter stopped the prompt. */
export interface DrawnResponse {
  readonly scenario: Scenario;
  readonly question: Question;
  readonly candidates: readonly ImageCandidate[] | null;
  /** The counts are what a fault made of them. */
  readonly isDistorted: boolean;
}

/** The whole response as one GenerateContentResponse. */
export function renderDrawing(drawn: DrawnResponse): JsonObject {
  if (drawn.candidates === null) return { ...blocked, ...tail(drawn) };
  const candidates = drawn.candidates.map((candidate, index) => ({
    content: contentOf(candidate.parts),
    ...endOf(candidate, index),
  }));
  return { candidates, ...tail(drawn) };
}

/** Every part is a chunk. The end of a candidate is one too, and the last one has the usage. */
export function renderDrawingChunks(drawn: DrawnResponse): WireEvent[] {
  if (drawn.candidates === null) return [asEvent({ ...blocked, ...tail(drawn) })];
  const { model: modelVersion, identity: responseId } = drawn.scenario;
  const base = { modelVersion, responseId };
  const chunks = drawn.candidates.flatMap((candidate, index) => [
    ...candidate.parts.map((part) => ({
      candidates: [{ content: contentOf([part]), index }],
      ...base,
    })),
    { candidates: [{ content: {}, ...endOf(candidate, index) }], ...base },
  ]);
  const last = chunks.length - 1;
  return chunks.map((chunk, position) =>
    asEvent(position === last ? { ...chunk, ...tail(drawn) } : chunk),
  );
}

function asEvent(value: unknown): WireEvent {
  return { data: JSON.stringify(value) };
}

/** A candidate without parts has an empty content. */
function contentOf(parts: readonly JsonObject[]): JsonObject {
  return parts.length === 0 ? {} : { role: 'model', parts };
}

function endOf({ finishReason }: ImageCandidate, index: number): JsonObject {
  const message = 'Unable to show the generated image. The model could not create it.';
  return {
    finishReason,
    ...(finishReason !== 'STOP' && { finishMessage: message }),
    index,
  };
}

function tail({ scenario, question, candidates, isDistorted }: DrawnResponse): JsonObject {
  const ids = { modelVersion: scenario.model, responseId: scenario.identity };
  const { usage } = scenario;
  if (usage === null) return ids;
  if (isDistorted) return { usageMetadata: renderUsage(usage), ...ids };
  const drawn = candidates ?? [];
  const image = drawn.reduce((sum, candidate) => sum + candidate.imageTokens, 0);
  const text = drawn.reduce((sum, candidate) => sum + candidate.textTokens, 0);
  const counted = renderUsage({ ...usage, visibleOutput: image + text });
  const sources = question.imageCount * imageTokens;
  const usageMetadata = {
    ...counted,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: Number(counted['promptTokenCount']) - sources },
      ...(sources > 0 ? [{ modality: 'IMAGE', tokenCount: sources }] : []),
    ],
    // The vendor states the pictures alone; the rest is text.
    ...(image > 0 && { candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: image }] }),
  };
  return { usageMetadata, ...ids };
}
