import { inputTokensOf } from './input-tokens.ts';
import type { TextInput } from './input.ts';
import type { PreparedText } from './prepared.ts';

const noText = Object.freeze({ body: Buffer.alloc(0), json: Object.freeze({}) });

/**
 * Lets go of the request's text. Nobody is sent it again once the client has seen some of a response; an agent's
 * request is hundreds of kilobytes, more than that when parsed, and its response may take minutes.
 */
export function forgetText(input: TextInput, prepared: PreparedText): void {
  prepared.inputTokens = inputTokensOf(prepared);
  prepared.large = null;
  prepared.request = { ...prepared.request, ...noText };
  input.body = noText.body;
  input.memory?.release();
}
