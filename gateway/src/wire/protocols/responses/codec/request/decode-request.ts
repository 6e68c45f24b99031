import type {
  Extension,
  GenerationRequest,
  Tool,
  Block,
  TextBlock,
  Turn,
} from '#canonical/index.ts';
import type { WireRequest } from '../../../protocol.ts';
import { isAbsent, isRecord, type JsonRecord, optionalText } from '../../../shared/values.ts';
import {
  decodeFormat,
  decodeLogprobsRequest,
  decodeReasoningRequest,
  decodeToolChoice,
} from './decode-settings.ts';
import { decodeTools } from './decode-tools.ts';
import { ownExtension, decodeExtensions } from './request-extensions.ts';
import { decodeItem } from './decode-item.ts';
import {
  invalid,
  readList,
  readNumber,
  readRecord,
  requireString,
} from '../../../shared/text/request-values.ts';

/** @throws GatewayError as `Codec.decodeRequest` says. */
export function decodeRequest(request: WireRequest): GenerationRequest {
  const { json } = request;
  const extensions: Extension[] = decodeExtensions(json);
  const keep = (extension: Extension): void => void extensions.push(extension);
  const { system, turns, tools } = decodeInput(json);
  const { format, verbosity, ...text } = readRecord(json['text'], 'text') ?? {};
  for (const [name, value] of Object.entries(text)) {
    if (!isAbsent(value)) keep(ownExtension(`text.${name}`, value, 'drop'));
  }
  const parallel = json['parallel_tool_calls'];
  return {
    model: request.model,
    stream: request.stream,
    system,
    turns,
    tools: withFound(
      decodeTools(readList(json['tools'], 'tools'), 'tools'),
      decodeTools(tools, 'input.tools'),
    ),
    toolChoice: decodeToolChoice(json['tool_choice'], keep),
    parallelTools: typeof parallel === 'boolean' ? parallel : null,
    maxOutputTokens: request.maxOutputTokens,
    temperature: readNumber(json['temperature'], 'temperature'),
    topP: readNumber(json['top_p'], 'top_p'),
    topK: null,
    presencePenalty: null,
    frequencyPenalty: null,
    seed: null,
    stop: [],
    choices: 1,
    format: decodeFormat({ format }),
    verbosity: typeof verbosity === 'string' ? verbosity : null,
    reasoning: decodeReasoningRequest(json['reasoning'], keep),
    logprobs: decodeLogprobsRequest(json, keep),
    cacheKey: optionalText(json['prompt_cache_key']),
    endUser: decodeEndUser(json['safety_identifier'], json['user'], keep),
    // Every response of this protocol reports usage.
    wantsUsage: true,
    extensions,
  };
}

/** A search finds tools again, and some that are there already: upstreams refuse a name that is there twice. */
function withFound(tools: readonly Tool[], foundTools: readonly Tool[]): readonly Tool[] {
  if (foundTools.length === 0) return tools;
  const keyOf = (tool: Tool): string =>
    JSON.stringify([tool.type === 'hosted' ? null : tool.namespace, tool.name]);
  const knownTools = new Set(tools.map(keyOf));
  const others = foundTools.filter(
    (tool) => !knownTools.has(keyOf(tool)) && knownTools.add(keyOf(tool)),
  );
  return [...tools, ...others];
}

function decodeEndUser(
  identifier: unknown,
  user: unknown,
  keep: (extension: Extension) => void,
): string | null {
  if (typeof identifier !== 'string') return optionalText(user);
  if (typeof user === 'string') keep(ownExtension('user', user, 'ignore'));
  return identifier;
}

interface DecodedInput {
  readonly system: readonly TextBlock[];
  readonly turns: readonly Turn[];
  /** Tools that the conversation defined on the way. */
  readonly tools: readonly unknown[];
}

/**
 * Decodes `instructions` and `input` into the system prompt and the turns. Adjacent items of one speaker make one turn.
 * @throws GatewayError `invalid_value`.
 */
function decodeInput(json: JsonRecord): DecodedInput {
  const { instructions, input } = json;
  const system: TextBlock[] = [];
  if (!isAbsent(instructions) && instructions !== '') {
    system.push({ type: 'text', text: requireString(instructions, 'instructions') });
  }
  const turns: { role: Turn['role']; blocks: Block[] }[] = [];
  const tools: unknown[] = [];
  for (const [index, item] of readItems(input).entries()) {
    const param = `input.${index}`;
    if (!isRecord(item)) throw invalid(param, 'must be an object');
    if (item['type'] === 'additional_tools' && Array.isArray(item['tools'])) {
      tools.push(...item['tools']);
      continue;
    }
    if (item['type'] === 'tool_search_output' && Array.isArray(item['tools'])) {
      tools.push(...item['tools']);
    }
    const { role, blocks } = decodeItem(item, param);
    // The user's turn stands between two of the model's, even if it says nothing.
    if (blocks.length === 0 && role !== 'user') continue;
    if (role === 'system' && turns.length === 0 && blocks.every((block) => block.type === 'text')) {
      system.push(...blocks);
      continue;
    }
    const last = turns.at(-1);
    const speaker = role ?? last?.role ?? 'user';
    if (last?.role === speaker) last.blocks.push(...blocks);
    else turns.push({ role: speaker, blocks: [...blocks] });
  }
  return { system, turns, tools };
}

function readItems(input: unknown): readonly unknown[] {
  // A stored prompt has input of its own.
  if (isAbsent(input)) return [];
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (Array.isArray(input)) return input;
  throw invalid('input', 'must be a string or an array of items');
}
