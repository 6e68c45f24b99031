import type { ReportedUsage } from '#canonical/index.ts';
import { keyBytes } from '#json/index.ts';
import { echoModel } from '../../echo.ts';
import { readInclusiveUsage } from '../../inclusive-usage.ts';
import { type ModelEcho, UnreadableAnswer, type WireResponse } from '../../protocol.ts';
import { readAnswer } from '../../read-answer.ts';
import { readGivenState } from './state-members.ts';
import type { JsonRecord } from '../../values.ts';
import { searchesIn } from './searches.ts';

const modelPath = [keyBytes('model')];

/** @throws UnreadableAnswer also for a response with `status` `failed`, with its `error`. */
export function readResponse(body: Buffer, echo: ModelEcho): WireResponse {
  const answer = readAnswer(body, usageOf);
  if (!Array.isArray(answer['output']) || answer['status'] === 'failed') {
    throw new UnreadableAnswer('the answer is not a response with output', answer, usageOf(answer));
  }
  const given = readGivenState(answer);
  return { body: echoModel(body, modelPath, echo), usage: usageOf(answer), given };
}

function usageOf(answer: JsonRecord): ReportedUsage | null {
  return readInclusiveUsage(answer['usage'], answer['service_tier'], searchesIn(answer));
}
