import type { ReportedUsage, TextProtocolName } from '#canonical/index.ts';
import { drawJson, openResponseBudget } from '#json/index.ts';
import { brokenEndingError, isWellEnded, judgeEnding, withUnknownEnding } from './endings.ts';
import { UnreadableResponse } from './protocol.ts';
import { estimateOutputTokens } from './token-estimate.ts';
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

/**
 * Judges the words with which the parts of a complete response end.
 * @returns its usage, which names the unknown words
 * @throws UnreadableResponse if it broke off
 */
export function readEndings(
  protocol: TextProtocolName,
  words: Iterable<unknown>,
  response: JsonRecord,
  usage: ReportedUsage | null,
): ReportedUsage | null {
  let named = usage;
  for (const word of words) {
    if (judgeEnding(word, true) === 'good') continue;
    const text = String(word);
    const ending = judgeEnding(text, estimateOutputTokens(response) > 0);
    if (ending === 'broken' || !isWellEnded(protocol, text, usage)) {
      throw new UnreadableResponse('the response broke off', brokenEndingError(text), usage);
    }
    named = withUnknownEnding(named, text);
  }
  return named;
}
