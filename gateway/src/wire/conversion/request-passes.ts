import { Unconvertible, type GenerationRequest, type TextProtocolName } from '#canonical/index.ts';
import type { Codec } from '#protocols/index.ts';
import type { UpstreamTraits } from '#vendors/index.ts';
import type { LossList } from './losses.ts';
import { deriveCacheKey } from './cache-key.ts';
import { hashEndUser } from './end-user.ts';
import { moveLoneInstructions } from './lone-instructions.ts';
import { addJsonInstruction } from './json-hint.ts';
import { fillEmptyTurns } from './fill-turns.ts';
import { inlineMedia, type FoundMedia } from './media.ts';
import { limitOutput } from './output-limit.ts';
import type { Sealing } from './state/client-state.ts';
import { repairMedia } from './repair-media.ts';
import { restoreState, type StateTarget } from './state/restore-state.ts';
import type { StateStore } from './state/state-store.ts';
import { placeSystemTurns } from './system-turns.ts';
import { assignCallIds } from './tools/call-ids.ts';
import { dropHostedTools } from './tools/hosted-tools.ts';
import { pairCalls } from './tools/pair-calls.ts';
import { renameTools } from './tools/rename-tools.ts';
import { moveResultMedia } from './tools/result-media.ts';
import { nameTools, type ToolNames } from './tools/tool-names.ts';

export interface PassParts {
  readonly media: FoundMedia;
  readonly sealing: Sealing;
  readonly store: StateStore;
}

export interface PassTarget extends StateTarget {
  readonly capabilities: ReadonlySet<string>;
  readonly traits: UpstreamTraits;
  /** The model's name at the upstream. */
  readonly model: string;
  readonly keyId: string;
  readonly maxOutputTokens: number | null;
}

export interface PassedRequest {
  readonly request: GenerationRequest;
  readonly names: ToolNames;
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
  decoded: GenerationRequest,
  client: TextProtocolName,
  upstream: Codec,
  target: PassTarget,
  parts: PassParts,
  losses: LossList,
): PassedRequest {
  const { capabilities, maxOutputTokens } = target;
  const traits = upstream.upstreamTraits?.(target) ?? upstream.traits;
  const shown = withoutZeroPenalties(withShownReasoning(decoded, client));
  let request = dropHostedTools(shown, upstream.name, capabilities, losses);
  request = limitOutput(request, maxOutputTokens, losses);
  request = deriveCacheKey(request, client, traits, target.keyId);
  request = hashEndUser(request);
  request = addJsonInstruction(request, upstream.name, losses);
  request = moveLoneInstructions(request, upstream.name, losses);
  // A stored prompt, say, has input of its own: its refusal says more.
  const isRefused = request.extensions.some(({ ifForeign }) => ifForeign === 'refuse');
  if (request.turns.length + request.system.length === 0 && !isRefused) {
    throw new Unconvertible('messages', 'the conversation needs a user message');
  }
  const repairs = new Set<string>();
  const note = (repair: string): void => void repairs.add(repair);
  request = fillEmptyTurns(request, upstream.name, note);
  request = restoreState(request, target, parts.sealing, parts.store, losses);
  request = assignCallIds(request, traits);
  request = placeSystemTurns(request, takesSystemTurns(upstream.name, target.traits), losses);
  request = pairCalls(request, client === 'messages', losses);
  const names = nameTools(request, traits);
  request = renameTools(request, names, traits, losses);
  if (!traits.toolResultMedia) request = moveResultMedia(request, losses);
  request = inlineMedia(request, traits.mediaAsBytes, parts.media);
  request = repairMedia(request, note);
  return { request, names, repairs };
}

/** Messages takes them from some models on, and generateContent never does: their encoders know where they go. */
function takesSystemTurns(upstream: TextProtocolName, { systemTurns }: UpstreamTraits): boolean {
  return systemTurns || (upstream !== 'chat' && upstream !== 'responses');
}

/** A messages client that enables thinking sees it unless it opts out; other protocols must ask for it. */
function withShownReasoning(
  request: GenerationRequest,
  client: TextProtocolName,
): GenerationRequest {
  const { reasoning } = request;
  const isShown = client === 'messages' && reasoning?.mode === 'on' && reasoning.show === null;
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
