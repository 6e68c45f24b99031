import { inputTokensOf } from './input-tokens.ts';
import type { TextInput } from './input.ts';
import type { PreparedText } from './prepared.ts';

const noText = Object.freeze({ body: Buffer.alloc(0), json: Object.freeze({}) });

/**
 * Releases the request's text. Once the client has seen some of a response, no other upstream is sent the request. An
 * agent's request has hundreds of kilobytes, and more when parsed, and its response may take minutes.
 */
export function forgetText(input: TextInput, prepared: PreparedText): void {
  prepared.inputTokens = inputTokensOf(prepared);
  prepared.large = null;
  prepared.request = { ...prepared.request, ...noText };
  input.body = noText.body;
  input.memory?.release();
}
