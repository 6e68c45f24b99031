import type { WireEvent } from '../http/reply.ts';
import { isObject, parseJson, type JsonObject } from '../json.ts';
import type { Choice, Scenario, Stop, Usage } from '../scenario/scenario.ts';

export interface ThoughtOptions {
  /** Whether to show thoughts. They are counted in any case. */
  readonly include: boolean;
  sign(nonce: string): string;
}

/** The whole response as one GenerateContentResponse. */
export function renderResponse(scenario: Scenario, thoughts: ThoughtOptions): JsonObject {
  if (isBlocked(scenario)) return { ...blocked, ...tail(scenario) };
  return {
    candidates: scenario.choices.map((choice, index) => ({
      ...candidate(wholeParts(choice, thoughts), index),
      finishReason: finishReason(choice.stop),
    })),
    ...tail(scenario),
  };
}

/** The response in increments: complete calls; usage and finish reason in the last one. */
export function renderChunks(scenario: Scenario, thoughts: ThoughtOptions): WireEvent[] {
  if (isBlocked(scenario)) return [asEvent({ ...blocked, ...tail(scenario) })];
  const base = { modelVersion: scenario.model, responseId: scenario.identity };
  const chunks = scenario.choices.flatMap((choice, index) => {
    const increments = partIncrements(choice, thoughts);
    const parts = increments.length > 0 ? increments : [{ text: '' }];
    return parts.map((part, position) => ({
      candidates: [
        {
          ...candidate([part], index),
          ...(position === parts.length - 1 && { finishReason: finishReason(choice.stop) }),
        },
      ],
      ...base,
    }));
  });
  const last = chunks.length - 1;
  return chunks.map((chunk, position) =>
    asEvent(position === last ? { ...chunk, ...tail(scenario) } : chunk),
  );
}

/** A filtered prompt has no candidates. */
function isBlocked(scenario: Scenario): boolean {
  return scenario.choices.every((choice) => choice.stop === 'filter');
}

export const blocked = { promptFeedback: { blockReason: 'SAFETY', safetyRatings: [] } };

function asEvent(value: unknown): WireEvent {
  return { data: JSON.stringify(value) };
}

function candidate(parts: readonly JsonObject[], index: number): JsonObject {
  return { content: { role: 'model', parts }, index };
}

function tail(scenario: Scenario): JsonObject {
  return {
    ...(scenario.usage && { usageMetadata: renderUsage(scenario.usage) }),
    modelVersion: scenario.model,
    responseId: scenario.identity,
  };
}

function wholeParts(choice: Choice, thoughts: ThoughtOptions): JsonObject[] {
  const parts: JsonObject[] = [];
  if (choice.reasoning && thoughts.include) {
    parts.push({ text: choice.reasoning.pieces.join(''), thought: true });
  }
  const text = choice.text.join('');
  if (text !== '' && choice.stop !== 'refusal') {
    parts.push({ text, ...signatureOf(choice, thoughts) });
  }
  return [...parts, ...callParts(choice, thoughts)];
}

/** Thoughts and text in pieces. The text's signature comes last, on an empty part. */
function partIncrements(choice: Choice, thoughts: ThoughtOptions): JsonObject[] {
  const shown = thoughts.include ? (choice.reasoning?.pieces ?? []) : [];
  const texts = choice.stop === 'refusal' ? [] : choice.text;
  const signature = texts.length > 0 ? signatureOf(choice, thoughts) : {};
  return [
    ...shown.map((text) => ({ text, thought: true })),
    ...texts.map((text) => ({ text })),
    ...(signature.thoughtSignature === undefined ? [] : [{ text: '', ...signature }]),
    ...callParts(choice, thoughts),
  ];
}

/** Only the first of parallel calls has the signature. A call that was cut is not sent. */
function callParts(choice: Choice, thoughts: ThoughtOptions): JsonObject[] {
  return choice.calls.flatMap((call, index) => {
    const args = parseJson(call.pieces.join(''));
    if (!isObject(args)) return [];
    const signature = index === 0 ? signatureOf(choice, thoughts) : {};
    return [{ functionCall: { id: call.id, name: call.name, args }, ...signature }];
  });
}

function signatureOf(choice: Choice, thoughts: ThoughtOptions): { thoughtSignature?: string } {
  return choice.reasoning ? { thoughtSignature: thoughts.sign(choice.reasoning.nonce) } : {};
}

function finishReason(stop: Stop): string {
  if (stop === 'length') return 'MAX_TOKENS';
  return stop === 'refusal' || stop === 'filter' ? 'SAFETY' : 'STOP';
}

/** `promptTokenCount` includes the cached part, `candidatesTokenCount` excludes the thoughts. */
export function renderUsage(usage: Usage): JsonObject {
  const prompt = usage.freshInput + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: usage.visibleOutput,
    ...(usage.reasoning !== 0 && { thoughtsTokenCount: usage.reasoning }),
    ...(usage.cacheRead !== 0 && {
      cachedContentTokenCount: usage.cacheRead,
      cacheTokensDetails: [{ modality: 'TEXT', tokenCount: usage.cacheRead }],
    }),
    totalTokenCount: prompt + usage.visibleOutput + usage.reasoning,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
  };
}
