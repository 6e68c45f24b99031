import type { ReportedUsage } from '#canonical/index.ts';
import { keyBytes } from '#json/index.ts';
import { echoModel } from '../../shared/text/echo.ts';
import { type ModelEcho, UnreadableResponse, type WireResponse } from '../../protocol.ts';
import { parseResponse, readEndings } from '../../shared/text/parse-bodies.ts';
import { recordsIn } from '../../shared/text/input-extent.ts';
import { isRecord, type JsonRecord } from '../../shared/values.ts';
import { searchesIn, readUsage } from './usage.ts';

const modelPath = [keyBytes('modelVersion')];

/** Accepts candidates, a blocked prompt, or a token count, which has no usage. @throws UnreadableResponse */
export function readResponse(body: Buffer, echo: ModelEcho): WireResponse {
  const response = parseResponse(body, usageOf);
  if (Array.isArray(response['candidates']) || isRecord(response['promptFeedback'])) {
    const reported = readUsage(response['usageMetadata'], searchesIn(response));
    const reasons = recordsIn(response['candidates']).map(({ finishReason }) => finishReason);
    const usage = readEndings('generate-content', reasons, response, reported);
    return { body: echoModel(body, modelPath, echo), usage };
  }
  if (typeof response['totalTokens'] === 'number') return { body, usage: null };
  throw new UnreadableResponse(
    'the response has neither candidates nor a block reason',
    response,
    usageOf(response),
  );
}

function usageOf(response: JsonRecord): ReportedUsage | null {
  return readUsage(response['usageMetadata']);
}
