import type { Call } from '../http/call.ts';
import { arrayAt, isObject, objectAt, objectsIn, stringAt, type JsonObject } from '../json.ts';
import {
  countTokens,
  imageTokens,
  type PromptPart,
  type Question,
  type Tool,
  type ToolChoice,
} from '../scenario/question.ts';

/** The input as items. A string becomes one user message. */
export function inputItems(body: JsonObject): readonly unknown[] {
  const { input } = body;
  return typeof input === 'string' ? [{ role: 'user', content: input }] : arrayAt(body, 'input');
}

/** Reads a validated body; `items` is the whole conversation, stored items first. */
export function readResponses(
  body: JsonObject,
  items: readonly JsonObject[],
  call: Call,
): Question {
  const lastUser = items.findLastIndex((item) => item['role'] === 'user');
  const since = items.slice(lastUser + 1);
  const lastCall = items.findLastIndex(isCall);
  const tail = isOutput(items.at(-1)) ? items.slice(lastCall + 1).filter(isOutput) : [];
  return {
    model: call.model,
    identity: call.identity,
    userText: textOf(items[lastUser]),
    imageCount: items.reduce((sum, item) => sum + countImages(item), 0),
    tools: readTools(body['tools']),
    toolChoice: readToolChoice(body['tool_choice']),
    parallelCalls: body['parallel_tool_calls'] !== false,
    // Adjacent calls are parallel and make one round.
    toolRounds: since.filter((item, index) => isCall(item) && !isCall(since[index - 1])).length,
    toolResults: tail.map(textOf),
    reasoning: wantsReasoning(body, call.model),
    maxTokens: typeof body['max_output_tokens'] === 'number' ? body['max_output_tokens'] : null,
    stopSequences: [],
    structure: readStructure(objectAt(body['text'], 'format')),
    choiceCount: 1,
    prompt: readPrompt(body, items),
  };
}

function readTools(tools: unknown): Tool[] {
  return objectsIn(tools).flatMap((tool): Tool[] => {
    if (tool['type'] === 'namespace') return readTools(tool['tools']);
    if (tool['type'] !== 'function' && tool['type'] !== 'custom') return [];
    return [
      { kind: tool['type'], name: stringAt(tool, 'name'), schema: tool['parameters'] ?? undefined },
    ];
  });
}

function readToolChoice(choice: unknown): ToolChoice {
  if (choice === 'none' || choice === 'required') return choice;
  const type = stringAt(choice, 'type');
  if (type === 'allowed_tools')
    return stringAt(choice, 'mode') === 'required' ? 'required' : 'auto';
  return type === 'function' || type === 'custom' ? { name: stringAt(choice, 'name') } : 'auto';
}

function wantsReasoning(body: JsonObject, model: string): boolean {
  const effort = objectAt(body, 'reasoning')['effort'];
  return effort !== 'none' && (model.includes('reasoning') || typeof effort === 'string');
}

function readStructure(format: JsonObject): unknown {
  if (format['type'] === 'json_object') return {};
  return format['type'] === 'json_schema' ? (format['schema'] ?? {}) : null;
}

function readPrompt(body: JsonObject, items: readonly JsonObject[]): PromptPart[] {
  const parts: PromptPart[] = [];
  const instructions = stringAt(body, 'instructions');
  if (instructions !== '') parts.push({ side: 'setup', tokens: countTokens(instructions) });
  if (arrayAt(body, 'tools').length > 0) {
    parts.push({ side: 'setup', tokens: countTokens(JSON.stringify(body['tools'])) });
  }
  for (const item of items) {
    const called = isCall(item) ? stringAt(item, 'name') + callText(item) : '';
    const marked = objectsIn(item['content']).some((part) =>
      isObject(part['prompt_cache_breakpoint']),
    );
    parts.push({
      side: sideOf(item),
      tokens: countTokens(textOf(item) + called) + imageTokens * countImages(item),
      ...(marked && { mark: '5m' as const }),
    });
  }
  return parts;
}

function sideOf(item: JsonObject): PromptPart['side'] {
  if (item['role'] === 'system' || item['role'] === 'developer') return 'setup';
  const own = item['role'] === 'assistant' || isCall(item) || item['type'] === 'reasoning';
  return own ? 'assistant' : 'user';
}

function callText(item: JsonObject): string {
  return stringAt(item, 'arguments') || stringAt(item, 'input');
}

function isCall(item: JsonObject | undefined): boolean {
  return item?.['type'] === 'function_call' || item?.['type'] === 'custom_tool_call';
}

function isOutput(item: JsonObject | undefined): boolean {
  return item?.['type'] === 'function_call_output' || item?.['type'] === 'custom_tool_call_output';
}

function textOf(item: JsonObject | undefined): string {
  const content = item?.['content'] ?? item?.['output'] ?? item?.['summary'];
  if (typeof content === 'string') return content;
  return objectsIn(content)
    .map((part) => stringAt(part, 'text'))
    .filter((text) => text !== '')
    .join('\n');
}

function countImages(item: JsonObject): number {
  return objectsIn(item['content'] ?? item['output']).filter(
    (part) => part['type'] === 'input_image',
  ).length;
}
