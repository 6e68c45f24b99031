import type { ReportedUsage } from '../../canonical/index.ts';
import { keyBytes } from '../../json/index.ts';
import { echoModel } from '../echo.ts';
import { readInclusiveUsage } from '../inclusive-usage.ts';
import { type ModelEcho, UnreadableAnswer, type WireResponse } from '../protocol.ts';
import { readAnswer } from '../read-answer.ts';
import type { JsonRecord } from '../values.ts';

const modelPath = [keyBytes('model')];

/** @throws UnreadableAnswer */
export function readResponse(body: Buffer, echo: ModelEcho): WireResponse {
  const answer = readAnswer(body, usageOf);
  if (!Array.isArray(answer['choices'])) {
    throw new UnreadableAnswer('the answer has no choices', answer, usageOf(answer));
  }
  return { body: echoModel(body, modelPath, echo), usage: usageOf(answer) };
}

function usageOf(answer: JsonRecord): ReportedUsage | null {
  return readInclusiveUsage(answer['usage']);
}
