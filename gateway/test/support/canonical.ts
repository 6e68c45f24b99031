import type {
  Block,
  FunctionTool,
  GenerationRequest,
  ToolCallBlock,
  ToolResultBlock,
  Turn,
} from '#canonical/index.ts';
import type { CodecTraits } from '#protocols/index.ts';

/** Canonical values with everything left out that a test does not speak of. */
export function requestOf(fields: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    model: 'demo-chat',
    stream: false,
    system: [],
    turns: [user('hello')],
    tools: [],
    toolChoice: null,
    parallelTools: null,
    maxOutputTokens: null,
    temperature: null,
    topP: null,
    topK: null,
    presencePenalty: null,
    frequencyPenalty: null,
    seed: null,
    stop: [],
    choices: 1,
    format: null,
    verbosity: null,
    reasoning: null,
    logprobs: null,
    cacheKey: null,
    endUser: null,
    wantsUsage: false,
    extensions: [],
    ...fields,
  };
}

export function user(...blocks: (Block | string)[]): Turn {
  return { role: 'user', blocks: blocks.map(asBlock) };
}

export function assistant(...blocks: (Block | string)[]): Turn {
  return { role: 'assistant', blocks: blocks.map(asBlock) };
}

function asBlock(block: Block | string): Block {
  return typeof block === 'string' ? { type: 'text', text: block } : block;
}

export function call(fields: Partial<ToolCallBlock> = {}): ToolCallBlock {
  return {
    type: 'tool-call',
    id: 'call_1',
    name: 'get_weather',
    kind: 'function',
    arguments: '{}',
    ...fields,
  };
}

export function result(fields: Partial<ToolResultBlock> = {}): ToolResultBlock {
  return {
    type: 'tool-result',
    id: 'call_1',
    name: null,
    content: [{ type: 'text', text: 'sunny' }],
    isError: false,
    ...fields,
  };
}

export function tool(name: string, namespace?: string): FunctionTool {
  return { type: 'function', name, namespace, description: null, schema: null, strict: null };
}

export function traitsOf(fields: Partial<CodecTraits> = {}): CodecTraits {
  return {
    toolName: /^[a-zA-Z0-9_-]+$/,
    toolNameLength: 64,
    toolId: /^[a-zA-Z0-9_-]+$/,
    toolIdLength: 64,
    customTools: false,
    cacheKey: false,
    toolNamespaces: false,
    state: 'block',
    mediaAsBytes: new Set<never>(),
    toolResultMedia: true,
    ...fields,
  };
}
