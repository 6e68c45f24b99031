import { GatewayError } from '#errors/index.ts';
import { parseWithLongTexts } from '#json/index.ts';
import { UnreadableResponse } from './protocol.ts';
import type { JsonRecord } from './values.ts';

/**
 * Parses a complete response whose pictures stay slices of its bytes.
 * @throws UnreadableResponse if it is not a JSON object
 */
export function parsePictures(body: Buffer): JsonRecord {
  try {
    return parseWithLongTexts(body);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new UnreadableResponse('the response is not JSON, or is too complex');
  }
}
