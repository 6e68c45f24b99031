import type { ReportedUsage } from '#canonical/index.ts';
import { drawJson, openAnswerBudget } from '#json/index.ts';
import { UnreadableAnswer } from './protocol.ts';
import { isRecord, type JsonRecord } from './values.ts';

/**
 * Parses a complete response.
 * @param usageOf reads the usage of a response that carries an error
 * @throws UnreadableAnswer
 */
export function readAnswer(
  body: Buffer,
  usageOf: (answer: JsonRecord) => ReportedUsage | null,
): JsonRecord {
  if (!drawJson(body, openAnswerBudget())) throw new UnreadableAnswer('the answer is too complex');
  let answer: unknown;
  try {
    answer = JSON.parse(body.toString('utf8'));
  } catch {
    throw new UnreadableAnswer('the answer is not JSON');
  }
  if (!isRecord(answer)) throw new UnreadableAnswer('the answer is not a JSON object');
  if (answer['error']) {
    throw new UnreadableAnswer('the answer carries an error', answer, usageOf(answer));
  }
  return answer;
}
