import type { Endpoint, Protocol, World } from '../http/call.ts';
import { jsonReply, streamReply } from '../http/reply.ts';
import { arrayAt, isObject, isPresent, stringAt } from '../json.ts';
import { wantsObfuscation } from '../openai/obfuscation.ts';
import { errorCode, openai, requestIdHeader } from '../openai/protocol.ts';
import { checkTemplate } from '../openai/templates.ts';
import { composeScenario } from '../scenario/compose.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { sumTokens } from '../scenario/usage.ts';
import { compactionItem } from './compact.ts';
import { drawsImage, renderImageCall } from './image-call.ts';
import type { ResponseMemory } from './memory.ts';
import { inputItems, readResponses } from './question.ts';
import { recall } from './recall.ts';
import {
  renderItems,
  renderOpening,
  renderResponse,
  responseId,
  type OutputItem,
} from './render.ts';
import { renderEvents } from './stream.ts';
import { validateCount, validateResponses } from './validate.ts';
import { checkItems, signaturePurpose } from './validate-items.ts';

/** Like Chat Completions, but a failure inside a stream is a separate event. */
export const responsesProtocol: Protocol = {
  ...openai,
  errorEvent: ({ status, message, detail }) => ({
    event: 'response.failed',
    data: JSON.stringify({
      type: 'response.failed',
      sequence_number: 0,
      response: {
        id: 'resp_failed',
        object: 'response',
        status: 'failed',
        output: [],
        error: { code: detail.code ?? errorCode(status) ?? 'server_error', message },
        usage: null,
      },
    }),
  }),
};

/** What each item is to a template: a developer's message is its system message. */
function rolesIn(items: readonly unknown[]): readonly string[] {
  return items.map((item) => stringAt(item, 'role').replace('developer', 'system'));
}

/** `POST /v1/responses` */
export function createResponses(world: World, memory: ResponseMemory): Endpoint {
  return (call) => {
    const body = validateResponses(call.body, call.model);
    const items = inputItems(body);
    const earlier = recall(memory, body);
    checkItems(items, earlier, world.signer);
    checkTemplate(call.model, rolesIn(items), isPresent(body['instructions']));

    const conversation = [...earlier, ...items].filter(isObject);
    const question = readResponses(body, conversation, call);
    const scenario = composeScenario(question, call.shape, 'implicit');
    const wantsEncrypted = arrayAt(body, 'include').includes('reasoning.encrypted_content');
    const options = {
      created: world.created(),
      request: body,
      encrypt: wantsEncrypted
        ? (nonce: string) => world.signer.mint(signaturePurpose, nonce, '')
        : undefined,
    };
    const isCompaction = conversation.at(-1)?.['type'] === 'compaction_trigger';
    const texts = isCompaction
      ? [{ item: compactionItem(scenario.identity, world.signer), pieces: [] }]
      : renderItems(scenario, options);
    const tool = isCompaction || stopsEarly(scenario) ? null : drawsImage(body, question);
    const output = tool
      ? insertImage(texts, renderImageCall(call, tool, question, scenario))
      : texts;
    const final = renderResponse(scenario, options, output);
    if (body['store'] !== false) {
      memory.remember(responseId(scenario), [...conversation, ...output.map(({ item }) => item)]);
    }
    if (body['stream'] !== true) return jsonReply(200, final, requestIdHeader);
    const opening = renderOpening(scenario, options);
    const events = renderEvents(opening, output, final, wantsObfuscation(body));
    return streamReply(events, requestIdHeader);
  };
}

/** A refused or filtered request draws nothing, and neither does one that calls the client's tools. */
function stopsEarly({ choices }: Scenario): boolean {
  const [choice] = choices;
  return choice?.stop === 'refusal' || choice?.stop === 'filter' || choice?.stop === 'tools';
}

/** The picture stands behind the reasoning, before the message about it. */
function insertImage(texts: readonly OutputItem[], image: OutputItem): OutputItem[] {
  const at = texts.findIndex(({ item }) => item['type'] !== 'reasoning');
  return texts.toSpliced(at < 0 ? texts.length : at, 0, image);
}

/** `POST /v1/responses/input_tokens` */
export function createInputCounter({ signer }: World): Endpoint {
  return (call) => {
    const body = validateCount(call.body, call.model);
    const items = inputItems(body);
    checkItems(items, [], signer);
    const { prompt } = readResponses(body, items.filter(isObject), call);
    const counted = { object: 'response.input_tokens', input_tokens: sumTokens(prompt) };
    return jsonReply(200, counted, requestIdHeader);
  };
}
