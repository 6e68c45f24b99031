import type { Extension, GenerationRequest } from '#canonical/index.ts';
import type { WireRequest } from '../../../protocol.ts';
import { isRecord } from '../../../shared/values.ts';
import { decodeConfig } from './decode-config.ts';
import { decodeContents, decodeSystem } from './decode-contents.ts';
import { decodeToolConfig, decodeTools } from './decode-tools.ts';
import { ownExtensions } from './extensions.ts';
import { member, otherMembers } from '../../fields.ts';

const known: ReadonlySet<string> = new Set([
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'generateContentRequest',
]);

/** Members whose loss would change the response: a conversation that the provider stores. */
const kept: ReadonlySet<string> = new Set(['cachedContent', 'continuationToken']);

/** @throws GatewayError `invalid_value`. */
export function decodeRequest(request: WireRequest): GenerationRequest {
  const wrapped = member(request.json, 'generateContentRequest');
  const json = isRecord(wrapped) ? wrapped : request.json;
  const config = decodeConfig(member(json, 'generationConfig'));
  const { toolChoice, extensions } = decodeToolConfig(member(json, 'toolConfig'));
  return {
    model: request.model,
    stream: request.stream,
    system: decodeSystem(member(json, 'systemInstruction')),
    turns: decodeContents(member(json, 'contents')),
    tools: decodeTools(member(json, 'tools')),
    toolChoice,
    parallelTools: null,
    maxOutputTokens: request.maxOutputTokens,
    choices: request.choices,
    verbosity: null,
    cacheKey: null,
    endUser: null,
    wantsUsage: true,
    ...config,
    extensions: [
      ...ownExtensions(otherMembers(json, known), '', fateOf),
      ...extensions,
      ...config.extensions,
    ],
  };
}

function fateOf(name: string, value: unknown): Extension['ifForeign'] {
  // Nothing is stored anyway.
  if (name === 'store' && value === false) return 'ignore';
  return kept.has(name) ? 'refuse' : 'drop';
}
