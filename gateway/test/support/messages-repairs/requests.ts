import { messages } from '#protocols/messages/index.ts';

export interface Options {
  readonly model?: string;
  readonly version?: string;
  readonly betas?: string;
  readonly limit?: number;
  readonly count?: boolean;
}

/** A request of this body as it reaches the upstream, and by which rules. */
export function patch(
  text: string,
  { model = 'claude-sonnet-4-5', version, betas, limit, count }: Options,
) {
  const operation = count === true ? 'count-tokens' : 'generate';
  const path = { operation, model: null, stream: null } as const;
  const request = messages.readRequest(messages.openRequest(Buffer.from(text), path));
  const patched = messages.patchRequest(request, {
    upstreamModel: model,
    maxOutputTokens: limit ?? null,
    headers: { 'anthropic-version': version, 'anthropic-beta': betas },
  });
  return {
    text: patched.body.toString('utf8'),
    ids: patched.rewrites,
    same: patched.body === request.body,
  };
}

/** A body with members beside the usual ones; numbers that would not survive being parsed stand around. */
export const whole = (more: string, model = 'claude-sonnet-4-5') =>
  `{"model":"${model}", "max_tokens": 4096,"x_big":12345678901234567890, ${more} ,"x_one":1.0}`;
export const talk = (...turns: string[]) => `"messages": [ ${turns.join(' , ')} ]`;
export const hello = talk('{"role":"user","content":"hi"}');
export const user = (...blocks: string[]) => `{"role":"user", "content":[${blocks.join(', ')}]}`;
export const model = (...blocks: string[]) =>
  `{"role":"assistant", "content":[${blocks.join(', ')}]}`;
export const text = (value: string) => `{"type":"text","text":"${value}"}`;
export const call = (id: string, input = '{"n":1.0}') =>
  `{"type":"tool_use","id":"${id}","name":"f","input":${input}}`;
export const result = (id: string, content = '"ok"') =>
  `{"type":"tool_result", "tool_use_id":"${id}","content":${content}}`;
/** A call of a tool that is not `f`, with the id `a`. */
export const called = (name: string) => call('a').replace('"name":"f"', `"name":"${name}"`);
export const found = (member: string, name: string) =>
  `{"type":"tool_search_tool_result","tool_use_id":"s","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","${member}":"${name}"}]}}`;
export const added = (name: string) =>
  `{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"${name}","input_schema":{"type":"object"}}}}`;
export const compacted = (name: string) =>
  `{"type":"compaction","content":"c","tool_changes":[${added(name)},{"type":"tool_removal","tool":{"type":"tool_reference","name":"${name}"}}]}`;
export const tool = (more = '') => `{"name":"f","input_schema":{"type":"object"}${more}}`;
export const tools = `"tools":[${tool()}]`;
export const marker = '"cache_control":{"type":"ephemeral"}';
export const long = '"cache_control":{"type":"ephemeral","ttl":"1h"}';
export const marked = (value: string, mark = marker) => `{"type":"text","text":"${value}",${mark}}`;
export const image = (type: string, data: string) =>
  `{"type":"image","source":{"type":"base64","media_type":"${type}","data":"${data}"}}`;
export const png = 'iVBORw0KGgo=';
export const noResult = (id: string) =>
  `{"type":"tool_result","tool_use_id":"${id}","is_error":true,"content":"No result was recorded for this call."}`;

/** A fault, the rule that repairs it, and the members before and after; a model's own name stands for it. */
export type Case = readonly [
  what: string,
  id: string,
  before: string,
  after: string,
  options?: Options,
];

export const always = { model: 'claude-opus-5-5' };
export const newer = { model: 'claude-opus-4-8' };
export const other = { model: 'demo-chat' };
export const latest = { version: '2026-10-21' };
