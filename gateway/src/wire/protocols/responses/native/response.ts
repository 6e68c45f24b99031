import type { ReportedUsage } from '#canonical/index.ts';
import { keyBytes } from '#json/index.ts';
import { echoModel } from '../../echo.ts';
import { readInclusiveUsage } from '../../inclusive-usage.ts';
import { type ModelEcho, UnreadableResponse, type WireResponse } from '../../protocol.ts';
import { readAnswer } from '../../read-response.ts';
import { readGivenState } from './state-members.ts';
import type { JsonRecord } from '../../values.ts';
import { searchesIn } from './searches.ts';

const modelPath = [keyBytes('model')];

/** @throws UnreadableResponse also for a response with `status` `failed`, with its `error`. */
export function readResponse(body: Buffer, echo: ModelEcho): WireResponse {
  const answer = readAnswer(body, usageOf);
  if (!Array.isArray(answer['output']) || answer['status'] === 'failed') {
    throw new UnreadableResponse(
      'the answer is not a response with output',
      answer,
      usageOf(answer),
    );
  }
  const given = readGivenState(answer);
  return { body: echoModel(body, modelPath, echo), usage: usageOf(answer), given };
}

function usageOf(answer: JsonRecord): ReportedUsage | null {
  return readInclusiveUsage(answer['usage'], answer['service_tier'], searchesIn(answer));
}
