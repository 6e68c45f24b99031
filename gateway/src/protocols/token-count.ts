import type { TextProtocolName } from '../canonical/index.ts';
import { UnreadableAnswer, type WireResponse } from './protocol.ts';
import { readAnswer } from './read-answer.ts';

/** Where the answer to a token count has its number: `{"totalTokens":7}`, `{"input_tokens":7}`. */
function memberOf(protocol: TextProtocolName): string {
  return protocol === 'generate-content' ? 'totalTokens' : 'input_tokens';
}

/**
 * An upstream's answer to a token count, unchanged.
 * @throws UnreadableAnswer when it names no number of tokens.
 */
export function readTokenCount(protocol: TextProtocolName, body: Buffer): WireResponse {
  const answer = readAnswer(body);
  const tokens = answer[memberOf(protocol)];
  if (!Number.isSafeInteger(tokens) || (tokens as number) < 0) {
    throw new UnreadableAnswer('the answer is not a token count', answer);
  }
  return { body, usage: null };
}

/** The same, of our own making. */
export function encodeTokenCount(protocol: TextProtocolName, tokens: number): string {
  return JSON.stringify({ [memberOf(protocol)]: tokens });
}
