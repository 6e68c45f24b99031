import type { Call } from '../http/call.ts';
import { isObject, objectAt, objectsIn, stringAt, type JsonObject } from '../json.ts';
import {
  countTokens,
  imageTokens,
  type PromptPart,
  type Question,
  type ToolChoice,
} from '../scenario/question.ts';

/** Reads a validated body. */
export function readMessages(body: JsonObject, call: Call): Question {
  const messages = objectsIn(body['messages']);
  const choice = body['tool_choice'];
  const lastUser = messages.findLastIndex(
    (message) => message['role'] === 'user' && !hasBlock(message, 'tool_result'),
  );
  const last = messages.at(-1);
  return {
    model: call.model,
    identity: call.identity,
    userText: textOf(messages[lastUser]?.['content']),
    imageCount: messages.reduce((sum, message) => sum + countImages(message['content']), 0),
    tools: objectsIn(body['tools'])
      .filter((tool) => isObject(tool['input_schema']))
      .map((tool) => ({
        kind: 'function' as const,
        name: stringAt(tool, 'name'),
        schema: tool['input_schema'],
      })),
    toolChoice: readToolChoice(choice),
    parallelCalls: !isObject(choice) || choice['disable_parallel_tool_use'] !== true,
    toolRounds: messages.slice(lastUser + 1).filter((message) => hasBlock(message, 'tool_use'))
      .length,
    toolResults: objectsIn(last?.['content'])
      .filter((block) => block['type'] === 'tool_result')
      .map((block) => textOf(block['content'])),
    reasoning: wantsThinking(body, call.model),
    maxTokens: typeof body['max_tokens'] === 'number' ? body['max_tokens'] : null,
    stopSequences: ((body['stop_sequences'] ?? []) as unknown[]).filter(
      (entry) => typeof entry === 'string',
    ),
    structure: readStructure(body),
    choiceCount: 1,
    prompt: readPrompt(body, messages),
  };
}

function readToolChoice(choice: unknown): ToolChoice {
  switch (stringAt(choice, 'type')) {
    case 'any':
      return 'required';
    case 'none':
      return 'none';
    case 'tool':
      return { name: stringAt(choice, 'name') };
    default:
      return 'auto';
  }
}

/** A forced tool choice excludes thinking at this vendor. */
function wantsThinking(body: JsonObject, model: string): boolean {
  const type = stringAt(body['thinking'], 'type');
  if (type !== '') return type !== 'disabled';
  const forced = ['any', 'tool'].includes(stringAt(body['tool_choice'], 'type'));
  return model.includes('reasoning') && !forced;
}

function readStructure(body: JsonObject): unknown {
  const format = objectAt(body['output_config'], 'format');
  return format['type'] === 'json_schema' ? (format['schema'] ?? {}) : null;
}

function readPrompt(body: JsonObject, messages: readonly JsonObject[]): PromptPart[] {
  const parts: PromptPart[] = [];
  const add = (side: PromptPart['side'], block: JsonObject, tokens: number) => {
    const { cache_control: _, ...content } = block;
    parts.push({ side, tokens, content: JSON.stringify(content), ...markOf(block) });
  };
  for (const tool of objectsIn(body['tools'])) {
    const { cache_control: _, ...definition } = tool;
    add('setup', tool, countTokens(JSON.stringify(definition)));
  }
  for (const block of blocksOf(body['system'])) add('setup', block, countBlock(block));
  for (const message of messages) {
    const side = message['role'] === 'assistant' ? 'assistant' : 'user';
    for (const block of blocksOf(message['content'])) add(side, block, countBlock(block));
  }
  const last = parts.at(-1);
  const wholeRequest = markOf(body);
  if (last && wholeRequest.mark) parts[parts.length - 1] = { ...last, ...wholeRequest };
  return parts;
}

function markOf(block: JsonObject): Pick<PromptPart, 'mark'> {
  const control = block['cache_control'];
  if (!isObject(control)) return {};
  return { mark: control['ttl'] === '1h' ? '1h' : '5m' };
}

function blocksOf(content: unknown): JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objectsIn(content);
}

function countBlock(block: JsonObject): number {
  const images = countImages([block]);
  switch (block['type']) {
    case 'image':
      return imageTokens;
    case 'tool_use':
      return countTokens(stringAt(block, 'name') + JSON.stringify(block['input']));
    case 'tool_result':
      return countTokens(textOf(block['content'])) + images * imageTokens;
    default:
      return countTokens(stringAt(block, 'text') + stringAt(block, 'thinking'));
  }
}

function hasBlock(message: JsonObject, type: string): boolean {
  return objectsIn(message['content']).some((block) => block['type'] === type);
}

function textOf(content: unknown): string {
  return blocksOf(content)
    .filter((block) => block['type'] === 'text')
    .map((block) => stringAt(block, 'text'))
    .join('\n');
}

/** Includes images in tool results. */
function countImages(content: unknown): number {
  return objectsIn(content).reduce(
    (sum, block) => sum + (block['type'] === 'image' ? 1 : countImages(block['content'])),
    0,
  );
}
