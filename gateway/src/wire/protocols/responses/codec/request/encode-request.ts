import type { GenerationRequest, TextBlock, Block } from '#canonical/index.ts';
import type { Encoded, EncodeTarget } from '../../../codec.ts';
import { encodeOrigin, sharedMembers } from '../../../shared/text/openai-members.ts';
import { Losses, notAvailable } from '../../../shared/text/losses.ts';
import { fitTools } from '../../../shared/tools/openai-tools.ts';
import { type JsonRecord, pick } from '../../../shared/values.ts';
import { logprobsInclude } from './decode-settings.ts';
import { encodePart } from './encode-content.ts';
import {
  encodeInclude,
  encodeMaxOutputTokens,
  encodeReasoningRequest,
  encodeSampling,
  encodeText,
  noteUnknown,
  willReason,
} from './encode-settings.ts';
import { encodeToolChoice, encodeTools } from './encode-tools.ts';
import { encodeTurn } from './encode-turn.ts';

/** Extensions inside a member that the encoder writes anyway. */
const inside = /^(reasoning|text)\.|^include$/;

/** @throws Unconvertible as `Codec.encodeRequest` says. */
export function encodeRequest(
  decodedRequest: GenerationRequest,
  target: EncodeTarget,
): Encoded<JsonRecord> {
  const losses = new Losses('responses');
  const request = keepCacheMarkers(decodedRequest, target.traits.cacheMarkers, losses);
  const { shared, others } = sharedMembers(request.extensions, target);
  losses.foreign(others);
  noteUnknown(request, losses);
  const { toolChoice, parallelTools } = request;
  const hosts = target.capabilities.has('hosted_tools');
  const tools = encodeTools(fitTools(request.tools, losses), losses, hosts);
  // Without tools, the choice goes too: upstreams refuse a choice among none.
  if (tools.length === 0 && request.tools.length > 0 && toolChoice?.mode === 'required') {
    throw notAvailable('tool_choice', 'a call of a tool that another provider runs');
  }
  const isIdle = tools.length === 0 && request.tools.length > 0 && toolChoice?.mode !== 'required';
  const choice = isIdle ? null : toolChoice;
  const reasoning = encodeReasoningRequest(request, target, losses);
  const own = others
    .filter(({ protocol, name }) => protocol === 'responses' && !inside.test(name))
    .map(({ name, value }) => [name, value] as const);
  const json = {
    model: target.model,
    stream: request.stream,
    ...encodeInput(request, target, losses),
    ...(tools.length > 0 && { tools }),
    ...(choice !== null && { tool_choice: encodeToolChoice(choice, request.tools, hosts) }),
    ...(parallelTools !== null && { parallel_tool_calls: parallelTools }),
    ...encodeMaxOutputTokens(request.maxOutputTokens, losses),
    ...encodeSampling(request, target, losses),
    ...(reasoning !== undefined && { reasoning }),
    ...encodeText(request),
    ...encodeInclude(request, willReason(request, target), logprobsInclude),
    ...encodeOrigin(request, target, losses),
    // Stored only if the client asks for it: this protocol stores what does not say no.
    store: false,
    ...shared,
    ...Object.fromEntries(own),
  };
  return { json, losses: losses.all() };
}

/**
 * The first text of the system prompt becomes the instructions. Further texts, and those at the end of a prompt cache,
 * become a developer's message. An upstream that takes one system message gets all texts as instructions.
 */
function encodeInput(
  { system: systemBlocks, turns }: GenerationRequest,
  { traits }: EncodeTarget,
  losses: Losses,
): JsonRecord {
  const system = traits.systemTurns ? systemBlocks : joined(systemBlocks, losses);
  const [first, ...others] = system;
  const isPlain = first !== undefined && first.cache === undefined;
  const rest = isPlain ? others : system;
  const content = rest.map((block) => encodePart(block, 'other', losses));
  if (isPlain) losses.foreign(first.extensions);
  const leading = content.length === 0 ? [] : [{ type: 'message', role: 'developer', content }];
  const input = [...leading, ...turns.flatMap((turn, at) => encodeTurn(turn, at, losses))];
  return { ...(isPlain && { instructions: first.text }), input };
}

function joined(system: readonly TextBlock[], losses: Losses): readonly TextBlock[] {
  if (system.length < 2) return system;
  for (const { extensions } of system) losses.foreign(extensions);
  return [{ type: 'text', text: system.map(({ text }) => text).join('\n\n') }];
}

/** Members that the counter accepts (`InputTokenCountParams` in the vendor's SDK). */
const counted = [
  'model',
  'instructions',
  'input',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
] as const;

/** The body of `POST /v1/responses/input_tokens` for an encoded request. */
export function encodeCount(json: JsonRecord): JsonRecord {
  return pick(json, counted);
}

/**
 * Keeps cache markers on the parts that can carry one: those of users and developers. Removes all of them for a server
 * without markers.
 */
function keepCacheMarkers(
  request: GenerationRequest,
  isKnown: boolean,
  losses: Losses,
): GenerationRequest {
  const strip = <B extends Block>(block: B, carries: boolean): B => {
    const keptExtensions =
      block.type === 'tool-result'
        ? { ...block, content: block.content.map((inner) => strip(inner, carries)) }
        : block;
    if (block.cache === undefined || (carries && isPart(block))) return keptExtensions;
    losses.dropped('cache');
    const { cache: _, ...bare } = keptExtensions;
    return bare as unknown as B;
  };
  const system = request.system.map((block) => strip(block, isKnown));
  const turns = request.turns.map((turn) => ({
    ...turn,
    blocks: turn.blocks.map((block) => strip(block, isKnown && turn.role !== 'assistant')),
  }));
  return { ...request, system, turns };
}

function isPart({ type }: Block): boolean {
  return type === 'text' || type === 'image' || type === 'file';
}
