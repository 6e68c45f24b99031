import type { ReportedUsage, TextProtocolName } from '#canonical/index.ts';
import { drawJson, parseObject, type WatchedObject, parseWithLongTexts } from '#json/index.ts';
import { GatewayError } from '#errors/index.ts';
import { brokenEndingError, isWellEnded, judgeEnding, withUnknownEnding } from './endings.ts';
import {
  UnreadableResponse,
  type Protocol,
  type RequestPath,
  type WireResponse,
} from '../../protocol.ts';
import { estimateOutputTokens } from '../usage/token-estimate.ts';
import { isRecord, type JsonRecord } from '../values.ts';
import { readModel } from './request-values.ts';
import { textFacts } from '../../text-facts.ts';

/**
 * A protocol's `openRequest`: one scan and one parse of the body, then the model.
 * @param watched members whose places the scan keeps
 * @param modelOf reads the model. Absent: it is in the body; throws GatewayError `model_required`
 */
export function createOpenRequest(
  watched: WatchedObject,
  modelOf?: (path: RequestPath, json: JsonRecord) => string,
): Protocol['openRequest'] {
  return (body, path, room) => {
    const { scan, value: json, budget } = parseObject(body, watched, room);
    const model = modelOf === undefined ? readModel(json['model']) : modelOf(path, json);
    return { path, body, scan, json, budget, model };
  };
}

/**
 * Parses a complete response.
 * @param usageOf reads the usage of a response that carries an error
 * @throws UnreadableResponse
 */
export function parseResponse(
  body: Buffer,
  usageOf: (response: JsonRecord) => ReportedUsage | null,
): JsonRecord {
  if (!drawJson(body)) throw new UnreadableResponse('the response is too complex');
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
  let namedUsage = usage;
  for (const word of words) {
    if (judgeEnding(word, true) === 'good') continue;
    const text = String(word);
    const ending = judgeEnding(text, estimateOutputTokens(response) > 0);
    if (ending === 'broken' || !isWellEnded(protocol, text, usage)) {
      throw new UnreadableResponse('the response broke off', brokenEndingError(text), usage);
    }
    namedUsage = withUnknownEnding(namedUsage, text);
  }
  return namedUsage;
}

/**
 * Parses a complete response whose images stay slices of its bytes.
 * @throws UnreadableResponse if it is not a JSON object
 */
export function parseImages(body: Buffer): JsonRecord {
  try {
    return parseWithLongTexts(body);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new UnreadableResponse('the response is not JSON, or is too complex');
  }
}

/**
 * An upstream's token count: unchanged for a client of the same protocol, only the number for any other.
 * @throws UnreadableResponse if it has no number of tokens.
 */
export function readTokenCount(
  upstream: TextProtocolName,
  client: TextProtocolName,
  body: Buffer,
): WireResponse {
  const response = parseResponse(body, () => null);
  const tokens = response[textFacts[upstream].countMember];
  if (typeof tokens !== 'number' || !Number.isSafeInteger(tokens) || tokens < 0) {
    throw new UnreadableResponse('the response is not a token count', response);
  }
  const countBody = upstream === client ? body : Buffer.from(encodeTokenCount(client, tokens));
  return { body: countBody, usage: null };
}

/** The gateway's own count, in the client's shape. */
export function encodeTokenCount(client: TextProtocolName, tokens: number): string {
  return JSON.stringify({ [textFacts[client].countMember]: tokens });
}
