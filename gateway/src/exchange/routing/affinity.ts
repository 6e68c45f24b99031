import type { Route } from '#catalogue/index.ts';
import type { Conversation } from './conversation.ts';

/**
 * The channel that each conversation used last, so that the next request finds the upstream's prompt cache warm. Only a
 * preference: the channel's health is checked afterwards. In memory, bounded; times are monotonic milliseconds.
 */
export interface ChannelAffinity {
  /**
   * Returns the routes with the conversation's channel before the others of its priority.
   * @param ranksFirst routes that the others may not overtake; by default all rank equally
   */
  prefer(
    routes: readonly Route[],
    conversation: Conversation,
    now: number,
    ranksFirst?: (route: Route) => boolean,
  ): readonly Route[];
  /** @param credential the index of the one that was used */
  noteUse(conversation: Conversation, route: Route, now: number, credential?: number): void;
  /** The index of the credential that a continued session used last on this channel; -1 if it is unknown. */
  credentialOf(conversation: Conversation, route: Route, now: number): number;
  /** The channel has refused reasoning state of the session: the first `count` carriers of it are not its own. */
  refused(conversation: Conversation, route: Route, count: number, now: number): void;
  /** How many carriers of reasoning state, the oldest first, the channel has refused; usually 0. */
  refusedBy(conversation: Conversation, route: Route, now: number): number;
}

export interface AffinityOptions {
  readonly maxEntries?: number;
  readonly ttlMs?: number;
}

interface Entry {
  channelId: string;
  credential: number;
  until: number;
  /** What channels refused, by their ids; null: nothing. */
  refused: Map<string, number> | null;
}

/** Remembers up to `maxEntries` conversations, each for `ttlMs` milliseconds after its last use. */
export function createChannelAffinity({
  maxEntries = 20_000,
  ttlMs = 3_600_000,
}: AffinityOptions = {}): ChannelAffinity {
  // Two generations instead of a list in order of use: a hit moves and searches nothing, and entries unused for a whole
  // generation are dropped with the older one.
  const generationSize = Math.max(1, maxEntries / 2);
  let younger = new Map<string, Entry>();
  let older = new Map<string, Entry>();

  function remember(key: string, channelId: string, credential: number, now: number): void {
    const entry = younger.get(key);
    if (entry !== undefined) {
      entry.channelId = channelId;
      entry.credential = credential;
      entry.until = now + ttlMs;
      return;
    }
    const refused = older.get(key)?.refused ?? null;
    if (younger.size >= generationSize) {
      older = younger;
      younger = new Map();
    }
    younger.set(key, { channelId, credential, until: now + ttlMs, refused });
  }

  function recall(key: string | null, now: number): Entry | null {
    if (key === null) return null;
    const entry = younger.get(key) ?? older.get(key);
    return entry !== undefined && entry.until > now ? entry : null;
  }

  const sessionOf = ({ session, isContinued }: Conversation, now: number): Entry | null =>
    isContinued ? recall(session, now) : null;

  return {
    prefer(routes, conversation, now, ranksFirst = () => true) {
      const last = (sessionOf(conversation, now) ?? recall(conversation.key, now))?.channelId;
      if (last === undefined) return routes;
      const mayPass = (a: Route, b: Route) =>
        a.channel.priority === b.channel.priority && (ranksFirst(a) || !ranksFirst(b));
      return moveForward(routes, last, mayPass);
    },
    noteUse({ key, session }, route, now, credential = 0) {
      const { id } = route.channel;
      if (key !== null) remember(key, id, credential, now);
      if (session !== null && session !== key) remember(session, id, credential, now);
    },
    credentialOf(conversation, route, now) {
      const entry = sessionOf(conversation, now);
      return entry?.channelId === route.channel.id ? entry.credential : -1;
    },
    refused(conversation, route, count, now) {
      const entry = sessionOf(conversation, now);
      if (entry !== null) (entry.refused ??= new Map()).set(route.channel.id, count);
    },
    refusedBy(conversation, route, now) {
      return sessionOf(conversation, now)?.refused?.get(route.channel.id) ?? 0;
    },
  };
}

/**
 * Returns the routes with this channel's first, whatever its priority: only its upstream has what the request refers
 * to.
 */
export function startingAt(routes: readonly Route[], channelId: string): readonly Route[] {
  return moveForward(routes, channelId, () => true);
}

/** Moves the channel's route before the first one that it may overtake. */
function moveForward(
  routes: readonly Route[],
  channelId: string,
  mayPass: (preferred: Route, other: Route) => boolean,
): readonly Route[] {
  const from = routes.findIndex((route) => route.channel.id === channelId);
  const preferred = routes[from];
  if (preferred === undefined) return routes;
  const to = routes.findIndex((route) => mayPass(preferred, route));
  if (to >= from) return routes;
  return [...routes.slice(0, to), preferred, ...routes.slice(to, from), ...routes.slice(from + 1)];
}
