import type { ReportedUsage } from '#canonical/index.ts';
import { drawJson, openResponseBudget } from '#json/index.ts';
import { UnreadableResponse } from './protocol.ts';
import { isRecord, type JsonRecord } from './values.ts';

/**
 * Parses a complete response.
 * @param usageOf reads the usage of a response that carries an error
 * @throws UnreadableResponse
 */
export function readAnswer(
  body: Buffer,
  usageOf: (answer: JsonRecord) => ReportedUsage | null,
): JsonRecord {
  if (!drawJson(body, openResponseBudget()))
    throw new UnreadableResponse('the answer is too complex');
  let answer: unknown;
  try {
    answer = JSON.parse(body.toString('utf8'));
  } catch {
    throw new UnreadableResponse('the answer is not JSON');
  }
  if (!isRecord(answer)) throw new UnreadableResponse('the answer is not a JSON object');
  if (answer['error']) {
    throw new UnreadableResponse('the answer carries an error', answer, usageOf(answer));
  }
  return answer;
}
