import type { TextProtocolName } from '#canonical/index.ts';
import { UnreadableResponse, type WireResponse } from '../../protocol.ts';
import { textFacts } from '../../text-facts.ts';
import { parseResponse } from '../text/parse-bodies.ts';

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
  const told = upstream === client ? body : Buffer.from(encodeTokenCount(client, tokens));
  return { body: told, usage: null };
}

/** The gateway's own count, in the client's shape. */
export function encodeTokenCount(client: TextProtocolName, tokens: number): string {
  return JSON.stringify({ [textFacts[client].countMember]: tokens });
}
