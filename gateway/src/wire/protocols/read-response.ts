import type { ReportedUsage } from '#canonical/index.ts';
import { drawJson, openResponseBudget } from '#json/index.ts';
import { UnreadableResponse } from './protocol.ts';
import { isRecord, type JsonRecord } from './values.ts';

/**
 * Parses a complete response.
 * @param usageOf reads the usage of a response that carries an error
 * @throws UnreadableResponse
 */
export function parseResponse(
  body: Buffer,
  usageOf: (response: JsonRecord) => ReportedUsage | null,
): JsonRecord {
  if (!drawJson(body, openResponseBudget()))
    throw new UnreadableResponse('the response is too complex');
  let response: unknown;
  try {
    response = JSON.parse(body.toString('utf8'));
  } catch {
    throw new UnreadableResponse('the response is not JSON');
  }
  if (!isRecord(response)) throw new UnreadableResponse('the response is not a JSON object');
  if (response['error']) {
    throw new UnreadableResponse('the response carries an error', response, usageOf(response));
  }
  return response;
}
