import type { TextProtocolName } from '#canonical/index.ts';
import { UnreadableAnswer, type WireResponse } from './protocol.ts';
import { readAnswer } from './read-answer.ts';

/** Where the answer to a token count has its number: `{"totalTokens":7}`, `{"input_tokens":7}`. */
function memberOf(protocol: TextProtocolName): string {
  return protocol === 'generate-content' ? 'totalTokens' : 'input_tokens';
}

/**
 * An upstream's answer to a token count: unchanged for a client of the same protocol, its number alone for any other.
 * @throws UnreadableAnswer when it names no number of tokens.
 */
export function readTokenCount(
  upstream: TextProtocolName,
  client: TextProtocolName,
  body: Buffer,
): WireResponse {
  const answer = readAnswer(body, () => null);
  const tokens = answer[memberOf(upstream)];
  if (typeof tokens !== 'number' || !Number.isSafeInteger(tokens) || tokens < 0) {
    throw new UnreadableAnswer('the answer is not a token count', answer);
  }
  const told = upstream === client ? body : Buffer.from(encodeTokenCount(client, tokens));
  return { body: told, usage: null };
}

/** A count of our own making, in the client's shape. */
export function encodeTokenCount(client: TextProtocolName, tokens: number): string {
  return JSON.stringify({ [memberOf(client)]: tokens });
}
