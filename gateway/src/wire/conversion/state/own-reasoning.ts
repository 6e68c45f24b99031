import type { GenerationEvent, GenerationRequest } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import {
  type Codec,
  type StreamContext,
  type WireRequest,
  isRecord,
  parsePassingOn,
} from '#protocols/index.ts';
import type { ResponseReader } from '../converted-tap.ts';
import { callsOf } from '../turns.ts';
import { rememberedNames } from './restore-state.ts';
import { StateKeeper, callKey, placeOf } from './state-keeper.ts';
import type { StateStore } from './state-store.ts';

/** Whose reasoning is remembered, and for which conversation. Plain data. */
export interface ReasoningPlace {
  readonly owner: string;
  /** Who wants it back: `makerId`. */
  readonly maker: string;
  /** `placeOf` the conversation that is answered. */
  readonly place: string;
}

export interface RecalledReasoning {
  /** By the place of the message. */
  readonly texts: ReadonlyMap<number, string>;
  /** Null if nothing needs to be remembered: there are no tools, or the gateway cannot read the conversation. */
  readonly place: ReasoningPlace | null;
}

const nothing: RecalledReasoning = Object.freeze({ texts: new Map<never, never>(), place: null });

/** The reasoning beside the calls of a conversation whose client speaks the upstream's protocol. */
export async function recallReasoning(
  request: WireRequest,
  { owner, maker }: Pick<ReasoningPlace, 'owner' | 'maker'>,
  codec: Codec,
  store: StateStore,
): Promise<RecalledReasoning> {
  const turns = turnsWithTools(request, codec);
  if (turns === null) return nothing;
  await store.recall?.(owner, rememberedNames({ turns }, { maker, protocol: codec.name }));
  const texts = new Map<number, string>();
  const { messages } = request.json;
  const places = (Array.isArray(messages) ? (messages as unknown[]) : []).flatMap((message, at) =>
    isRecord(message) && message['role'] === 'assistant' ? [at] : [],
  );
  let count = 0;
  for (const [at, turn] of turns.entries()) {
    if (turn.role !== 'assistant') continue;
    const message = places[count];
    count += 1;
    const id = callsOf(turn)[0]?.id ?? null;
    if (message === undefined || id === null) continue;
    const keptState = store.find(owner, callKey(placeOf(turns, at), id));
    if (keptState?.maker !== maker) continue;
    const text = keptState.reasoning.map((block) => block.text).join('\n\n');
    if (text !== '') texts.set(message, text);
  }
  return { texts, place: { owner, maker, place: placeOf(turns) } };
}

/** Null for a conversation without tools, and for a request that only the upstream may understand. */
function turnsWithTools(request: WireRequest, codec: Codec): GenerationRequest['turns'] | null {
  try {
    const { turns, tools } = codec.decodeRequest(request);
    return tools.length > 0 || turns.some((turn) => callsOf(turn).length > 0) ? turns : null;
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

/** The same reader, which remembers the reasoning before each call that it reads. */
export function rememberReasoning(
  reader: ResponseReader,
  { owner, maker, place }: ReasoningPlace,
  codec: Codec,
  store: StateStore,
): ResponseReader {
  const keeperOf = () => new StateKeeper(owner, maker, store, place);
  return {
    readResponse(body, echo) {
      const response = reader.readResponse(body, echo);
      const json = parsePassingOn(body, codec.passedOn);
      for (const { blocks } of isRecord(json) ? codec.decodeResponse(json).candidates : []) {
        const keeper = keeperOf();
        for (const block of blocks) {
          if (block.type === 'tool-call' && block.id !== null) keeper.call(block.id, block.state);
          if (block.type !== 'reasoning') continue;
          keeper.close();
          keeper.reasoning(block.text);
          if (block.state !== undefined) keeper.state(block.state);
        }
      }
      return response;
    },
    createStreamTap(context: StreamContext) {
      const decoder = codec.createStreamDecoder();
      const keepers = new Map<number, StateKeeper>();
      const keep = (event: GenerationEvent): void => {
        const choice = event.choice ?? 0;
        const keeper = keepers.get(choice) ?? keeperOf();
        keepers.set(choice, keeper);
        if (event.type === 'reasoning') keeper.reasoning(event.text);
        else if (event.type === 'state') keeper.state(event.state);
        else if (event.type === 'call-start' && event.id !== null)
          keeper.call(event.id, event.state);
      };
      return reader.createStreamTap({ ...context, observe: (event) => decoder.push(event, keep) });
    },
  };
}
