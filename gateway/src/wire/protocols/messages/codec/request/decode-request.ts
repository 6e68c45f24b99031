import type {
  Extension,
  GenerationRequest,
  OutputFormat,
  TextBlock,
  Turn,
  ReasoningRequest,
} from '#canonical/index.ts';
import type { WireRequest } from '../../../protocol.ts';
import {
  isAbsent,
  isRecord,
  type JsonRecord,
  recordAt,
  optionalText,
} from '../../../shared/values.ts';
import { decodeContent, decodeText } from './decode-content.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { otherMembers, ownExtension, requireName } from '../../wire.ts';
import { invalid, readNumber, requireString } from '../../../shared/text/request-values.ts';

const members = new Set([
  'model',
  'messages',
  'system',
  'stream',
  'max_tokens',
  'stop_sequences',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
  'top_p',
  'top_k',
]);

/** Other members are dropped and reported. So is `temperature`, which upstreams of this protocol refuse. */
const foreignHandlings: Readonly<Record<string, Extension['ifForeign']>> = {
  container: 'refuse',
  mcp_servers: 'refuse',
  thread: 'refuse',
  // It restricts where the prompt may be processed.
  inference_geo: 'refuse',
  anthropic_beta: 'ignore',
  anthropic_version: 'ignore',
  billing_policy: 'ignore',
  cache_control: 'ignore',
  fallback_credit_token: 'ignore',
  safeguards: 'ignore',
};

const configMembers = new Set(['effort', 'format']);
const metadataMembers = new Set(['user_id']);

/** @throws GatewayError `invalid_value` with the path of the meaningless value. */
export function decodeRequest({
  json,
  model,
  stream,
  maxOutputTokens,
}: WireRequest): GenerationRequest {
  const outputConfig = recordAt(json, 'output_config');
  const { reasoning, extension } = decodeReasoning(json['thinking'], outputConfig);
  const metadata = recordAt(json, 'metadata');
  const opening = decodeSystem(json['system']);
  const conversation = decodeMessages(json['messages']);
  return {
    model,
    stream,
    system: [...opening.system, ...conversation.system],
    turns: conversation.turns,
    tools: decodeTools(json['tools']),
    ...decodeToolChoice(json['tool_choice']),
    maxOutputTokens,
    temperature: null,
    topP: readNumber(json['top_p'], 'top_p'),
    topK: readNumber(json['top_k'], 'top_k'),
    presencePenalty: null,
    frequencyPenalty: null,
    seed: null,
    stop: decodeStop(json['stop_sequences']),
    choices: 1,
    format: decodeFormat(outputConfig['format'] ?? json['output_format']),
    verbosity: null,
    reasoning,
    logprobs: null,
    cacheKey: null,
    endUser: optionalText(metadata['user_id']),
    wantsUsage: true,
    extensions: [
      ...opening.extensions,
      ...conversation.extensions,
      ...(extension === null ? [] : [extension]),
      ...otherMembers(json, members, foreignHandlings),
      ...rest('output_config', outputConfig, configMembers),
      ...rest('metadata', metadata, metadataMembers),
    ],
  };
}

/** The unknown members of an object at the top level, as one extension. */
function rest(name: string, value: JsonRecord, knownMembers: ReadonlySet<string>): Extension[] {
  const others = otherMembers(value, knownMembers, {});
  if (others.length === 0) return [];
  const otherValues = Object.fromEntries(others.map((other) => [other.name, other.value]));
  return [ownExtension(name, otherValues, 'drop')];
}

interface System {
  readonly system: readonly TextBlock[];
  readonly extensions: readonly Extension[];
}

/**
 * Claude Code begins its system prompt with an attribution line. Its own provider requires it as the first block. For
 * any other model it is noise that changes with every conversation and defeats the prompt cache.
 */
function decodeSystem(system: unknown): System {
  if (isAbsent(system) || system === '') return { system: [], extensions: [] };
  if (typeof system === 'string')
    return { system: [{ type: 'text', text: system }], extensions: [] };
  const blocks = decodeSystemBlocks(system, 'system');
  const [first, ...others] = blocks;
  if (first?.text.startsWith('x-anthropic-billing-header:') !== true) {
    return { system: blocks, extensions: [] };
  }
  const [attribution] = Array.isArray(system) ? (system as unknown[]) : [];
  return {
    system: others,
    extensions: [ownExtension('system.attribution', attribution, 'ignore')],
  };
}

function decodeSystemBlocks(value: unknown, param: string): TextBlock[] {
  if (!Array.isArray(value)) throw invalid(param, 'must be a string or a list of text blocks');
  return value.map((block: unknown, index) => {
    const at = `${param}.${index}`;
    if (!isRecord(block)) throw invalid(at, 'must be an object');
    if (block['type'] !== 'text') throw invalid(`${at}.type`, 'must be text');
    return decodeText(block, { param: at });
  });
}

interface Conversation {
  readonly extensions: readonly Extension[];
  readonly system: readonly TextBlock[];
  readonly turns: readonly Turn[];
}

function decodeMessages(messages: unknown): Conversation {
  if (!Array.isArray(messages)) throw invalid('messages', 'must be a list');
  const system: TextBlock[] = [];
  const turns: Turn[] = [];
  const extensions: Extension[] = [];
  for (const [index, message] of messages.entries()) {
    const param = `messages.${index}`;
    if (!isRecord(message)) throw invalid(param, 'must be an object');
    const { role, content } = message;
    const at = `${param}.content`;
    if (role === 'system') {
      const { blocks, directives } = decodeSystemTurn(content, at);
      extensions.push(...directives, ...systemMembers(message));
      if (turns.length === 0) system.push(...blocks);
      else if (blocks.length > 0 || directives.length === 0) turns.push({ role, blocks });
    } else if (role === 'user' || role === 'assistant') {
      turns.push({ role, blocks: decodeContent(content, { role, param: at }) });
    } else throw invalid(`${param}.role`, 'must be user, assistant or system');
  }
  return { system, turns, extensions };
}

/** Members of a system turn that change something from here on. */
function systemMembers(turn: JsonRecord): readonly Extension[] {
  return Object.entries(turn)
    .filter(([name, value]) => name !== 'role' && name !== 'content' && !isAbsent(value))
    .map(([name, value]) => ownExtension(`messages.${name}`, value, 'drop'));
}

interface SystemTurn {
  readonly blocks: readonly TextBlock[];
  readonly directives: readonly Extension[];
}

/**
 * Between turns there may be other blocks than texts, such as `tool_addition`, which offers a deferred tool from here on:
 * other protocols have every tool from the beginning.
 */
function decodeSystemTurn(content: unknown, param: string): SystemTurn {
  if (typeof content === 'string') {
    return { blocks: content === '' ? [] : [{ type: 'text', text: content }], directives: [] };
  }
  if (!Array.isArray(content)) throw invalid(param, 'must be a string or a list of blocks');
  const blocks: TextBlock[] = [];
  const directives: Extension[] = [];
  for (const [index, block] of (content as unknown[]).entries()) {
    const at = `${param}.${index}`;
    if (!isRecord(block)) throw invalid(at, 'must be an object');
    const type = requireName(block['type'], `${at}.type`);
    if (type === 'text') blocks.push(decodeText(block, { param: at }));
    else directives.push(ownExtension(`messages.${type}`, block, 'drop'));
  }
  return { blocks, directives };
}

function decodeStop(stop: unknown): string[] {
  if (isAbsent(stop)) return [];
  if (!Array.isArray(stop)) throw invalid('stop_sequences', 'must be a list of strings');
  return stop.map((text: unknown, index) => requireString(text, `stop_sequences.${index}`));
}

function decodeFormat(format: unknown): OutputFormat | null {
  if (!isRecord(format)) return null;
  const { schema } = format;
  if (format['type'] !== 'json_schema' || !isRecord(schema)) {
    throw invalid('output_config.format', 'must be a json_schema with a schema');
  }
  return { type: 'schema', name: null, description: null, schema, strict: null };
}

interface Decoded {
  readonly reasoning: ReasoningRequest | null;
  readonly extension: Extension | null;
}

const efforts = new Set<string>(['low', 'medium', 'high', 'xhigh', 'max']);
const displayModes: Readonly<Record<string, boolean>> = { summarized: true, omitted: false };

/**
 * Reads `thinking` and `output_config.effort` as one setting. Combinations without a canonical form (an effort without
 * thinking, an unknown kind of thinking) become extensions for this protocol.
 * @throws GatewayError `invalid_value`.
 */
export function decodeReasoning(thinking: unknown, outputConfig: JsonRecord): Decoded {
  const level = optionalText(outputConfig['effort']);
  const effort =
    level !== null && efforts.has(level) ? (level as ReasoningRequest['effort']) : null;
  if (!isRecord(thinking)) {
    if (effort === null) return { reasoning: null, extension: null };
    return {
      reasoning: { mode: 'on', effort, budget: null, show: null },
      extension: ownExtension('thinking', null, 'ignore'),
    };
  }
  const { type, display } = thinking;
  const shows =
    typeof display === 'string' && Object.hasOwn(displayModes, display)
      ? displayModes[display]
      : null;
  const budget = readNumber(thinking['budget_tokens'], 'thinking.budget_tokens');
  const reasoning: ReasoningRequest = {
    mode: type === 'disabled' ? 'off' : 'on',
    effort,
    budget: type === 'enabled' ? budget : null,
    // A display that the gateway does not know (`updates`) shows something.
    show: shows ?? (typeof display === 'string' ? true : null),
  };
  const isPlain = type === 'enabled' || type === 'adaptive' || type === 'disabled';
  const isPlainDisplay = shows !== null || display === undefined || display === null;
  const handling = isPlain ? 'ignore' : 'approximate';
  const extension = isPlain && isPlainDisplay ? null : ownExtension('thinking', thinking, handling);
  return { reasoning, extension };
}
