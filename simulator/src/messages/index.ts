import type { Endpoint, World } from '../http/call.ts';
import { jsonReply, streamReply } from '../http/reply.ts';
import { stringAt } from '../json.ts';
import { composeScenario } from '../scenario/compose.ts';
import { sumTokens } from '../scenario/usage.ts';
import { createPromptCache, remembersPrompts } from './prompt-cache.ts';
import { requestIdHeader } from './protocol.ts';
import { readMessages } from './question.ts';
import { renderEvents, renderMessage } from './render.ts';
import { validateMessages } from './validate.ts';
import { signaturePurpose } from './validate-thinking.ts';

/** `POST /v1/messages` */
export function createMessages({ signer }: World): Endpoint {
  const cache = createPromptCache();
  return (call) => {
    const body = validateMessages(call.body, call.model, call.headers, signer);
    const question = readMessages(body, call);
    const account = String(call.headers['x-api-key'] ?? call.headers.authorization);
    const caching = remembersPrompts(call.model)
      ? cache.count(account, call.model, question.prompt)
      : 'explicit';
    const scenario = composeScenario(question, call.shape, caching);
    const thinking = {
      omitted: stringAt(body['thinking'], 'display') === 'omitted',
      sign: (reasoning: { nonce: string }, text: string) =>
        signer.mint(signaturePurpose, reasoning.nonce, text),
    };
    return body['stream'] === true
      ? streamReply(renderEvents(scenario, thinking), requestIdHeader)
      : jsonReply(200, renderMessage(scenario, thinking), requestIdHeader);
  };
}

/** `POST /v1/messages/count_tokens` */
export function createMessageCounter({ signer }: World): Endpoint {
  return (call) => {
    const body = validateMessages(call.body, call.model, call.headers, signer, true);
    const inputTokens = sumTokens(readMessages(body, call).prompt);
    return jsonReply(200, { input_tokens: inputTokens }, requestIdHeader);
  };
}
