import {
  Unconvertible,
  type GenerationRequest,
  type TextProtocolName,
  type Block,
  type MediaSource,
  type LossList,
} from '#canonical/index.ts';
import { type Codec, digest, type CodecTraits, fittingType, textFacts } from '#protocols/index.ts';
import type { UpstreamTraits } from '#vendors/index.ts';
import { moveLoneInstructions, addJsonInstruction, placeSystemTurns } from './instructions.ts';
import { fillEmptyTurns, mapBlocks, mergeTurns } from './turns.ts';
import { inlineMedia, type FoundMedia, moveResultMedia } from './media.ts';
import type { Sealing } from './state/envelope.ts';
import { restoreState, type StateTarget } from './state/restore-state.ts';
import type { StateStore } from './state/state-store.ts';
import { assignCallIds } from './tools/call-ids.ts';
import { dropHostedTools } from './tools/hosted-tools.ts';
import { pairCalls } from './tools/pair-calls.ts';
import { renameTools, nameTools, type ToolNames } from './tools/tool-names.ts';

interface PassParts {
  readonly media: FoundMedia;
  readonly sealing: Sealing;
  readonly store: StateStore;
}

interface PassTarget extends StateTarget {
  readonly capabilities: ReadonlySet<string>;
  readonly traits: UpstreamTraits;
  /** The model's name at the upstream. */
  readonly model: string;
  readonly keyId: string;
  readonly maxOutputTokens: number | null;
}

interface PassedRequest {
  readonly request: GenerationRequest;
  /** The client's tools by the names that the upstream receives. */
  readonly clientTools: ToolNames['clientTools'];
  /** The repairs that changed it, see docs/repairs.md. */
  readonly repairs: ReadonlySet<string>;
}

/**
 * The steps that several protocols need between decoding and encoding. Each pass takes and returns plain data. The
 * order matters: state before ids (memory knows the client's own ids), ids before names (results find their calls by
 * id), media last because the other passes may drop some.
 * @throws Unconvertible, MediaWanted
 */
export function passRequest(
  decodedRequest: GenerationRequest,
  client: TextProtocolName,
  upstream: Codec,
  target: PassTarget,
  parts: PassParts,
  losses: LossList,
): PassedRequest {
  const { capabilities, maxOutputTokens } = target;
  const traits = upstream.upstreamTraits?.(target) ?? upstream.traits;
  const { usesTools, hasMedia, isContinued } = contentsOf(decodedRequest);
  let request = withoutZeroPenalties(withShownReasoning(decodedRequest, client));
  if (usesTools || request.toolChoice !== null) {
    request = dropHostedTools(request, upstream.name, capabilities, losses);
  }
  request = limitOutput(request, maxOutputTokens, losses);
  if (request.endUser !== null) {
    const { endUser } = request;
    request = deriveCacheKey(request, client, traits, target.keyId);
    request = { ...request, endUser: opaqueName(endUser) };
  }
  if (request.format?.type === 'json') {
    request = addJsonInstruction(request, upstream.name, losses);
  }
  if (request.system.length > 0) request = moveLoneInstructions(request, upstream.name, losses);
  // A stored prompt, say, has input of its own: its refusal says more.
  const isRefused = request.extensions.some(({ ifForeign }) => ifForeign === 'refuse');
  if (request.turns.length + request.system.length === 0 && !isRefused) {
    throw new Unconvertible('messages', 'the conversation needs a user message');
  }
  const repairs = new Set<string>();
  const note = (repair: string): void => void repairs.add(repair);
  request = fillEmptyTurns(request, upstream.name, note);
  if (isContinued) request = restoreState(request, target, parts.sealing, parts.store, losses);
  if (usesTools) request = assignCallIds(request, traits);
  // Messages takes them from some models on, and generateContent never does: their encoders know where they go.
  const takesSystemTurns = target.traits.systemTurns || textFacts[upstream.name].placesSystemTurns;
  request = placeSystemTurns(request, takesSystemTurns, losses);
  let clientTools: ToolNames['clientTools'] = noTools;
  if (!usesTools) request = { ...request, turns: mergeTurns(request.turns) };
  else {
    request = pairCalls(request, textFacts[client].isRepaired, losses);
    const names = nameTools(request, traits);
    ({ clientTools } = names);
    request = renameTools(request, names, traits, losses);
    if (!traits.toolResultMedia) request = moveResultMedia(request, losses);
  }
  if (hasMedia) {
    request = inlineMedia(request, traits.mediaAsBytes, parts.media);
    request = repairMedia(request, note);
  }
  return { request, clientTools, repairs };
}

const noTools: ToolNames['clientTools'] = new Map();

/** What a request has. Passes for the rest are left out. */
function contentsOf({ turns, tools }: GenerationRequest) {
  let usesTools = tools.length > 0;
  let hasMedia = false;
  let isContinued = false;
  for (const { role, blocks } of turns) {
    if (role === 'assistant') isContinued = true;
    for (const block of blocks) {
      // Results may hold media.
      if (block.type === 'tool-call' || block.type === 'tool-result') usesTools = true;
      if (block.type === 'tool-result' || 'source' in block) hasMedia = true;
    }
  }
  return { usesTools, hasMedia, isContinued };
}

/** A messages client that enables thinking sees it unless it opts out; other protocols must ask for it. */
function withShownReasoning(
  request: GenerationRequest,
  client: TextProtocolName,
): GenerationRequest {
  const { reasoning } = request;
  const isShown =
    textFacts[client].showsReasoning && reasoning?.mode === 'on' && reasoning.show === null;
  return isShown ? { ...request, reasoning: { ...reasoning, show: true } } : request;
}

/** Clients send the default explicitly. For an upstream without penalties, dropping it loses nothing. */
function withoutZeroPenalties(request: GenerationRequest): GenerationRequest {
  const { presencePenalty, frequencyPenalty } = request;
  if (presencePenalty !== 0 && frequencyPenalty !== 0) return request;
  return {
    ...request,
    presencePenalty: presencePenalty === 0 ? null : presencePenalty,
    frequencyPenalty: frequencyPenalty === 0 ? null : frequencyPenalty,
  };
}

/**
 * Messages clients mark where a cache ends but send no key that their requests share; agents put the session into the
 * end user's name. Upstreams that find caches by key receive one derived from it, so that the requests of one session
 * share a cache, and requests of different gateway keys never do.
 */
function deriveCacheKey(
  request: GenerationRequest,
  client: TextProtocolName,
  { cacheKey: isTaken }: CodecTraits,
  keyId: string,
): GenerationRequest {
  const { endUser, cacheKey } = request;
  if (!textFacts[client].namesSessions || !isTaken) return request;
  if (endUser === null || cacheKey !== null) return request;
  return { ...request, cacheKey: digest(32, `${keyId} ${endUser}`) };
}

/**
 * Vendors want an opaque name for the end user of at most 64 characters. Claude Code sends three ids in one, other
 * clients an e-mail address. The hash is the same for a user in every protocol.
 */
function opaqueName(endUser: string): string {
  return digest(32, endUser);
}

/**
 * Upstreams refuse a limit above the model's own. A client may have set it for another model that this one replaces, so
 * it is lowered to the maximum instead.
 */
function limitOutput(
  request: GenerationRequest,
  most: number | null,
  losses: LossList,
): GenerationRequest {
  const { maxOutputTokens } = request;
  if (maxOutputTokens === null || most === null || maxOutputTokens <= most) return request;
  losses.approximated('max_output_tokens');
  return { ...request, maxOutputTokens: most };
}

/**
 * Gives media the type that their bytes show, in its registered spelling, and names the repair `b36` where a client wrote
 * another, or wrote their base64 in another form.
 */
function repairMedia(request: GenerationRequest, note: (repair: 'b36') => void): GenerationRequest {
  const repair = (block: Block): Block => {
    if (block.type === 'tool-result') {
      const content = block.content.map(repair);
      return content.some((part, at) => part !== block.content[at]) ? { ...block, content } : block;
    }
    if (!('source' in block) || block.source.kind !== 'data') return block;
    const { mime, base64, repaired } = block.source;
    const fitting = fittingType(mime, base64);
    if (fitting === mime && repaired === undefined) return block;
    note('b36');
    const source: MediaSource = { kind: 'data', mime: fitting, base64 };
    return { ...block, source };
  };
  return mapBlocks(request, repair);
}
