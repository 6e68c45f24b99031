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
  used(conversation: Conversation, route: Route, now: number): void;
}

export interface AffinityOptions {
  readonly maxEntries?: number;
  readonly ttlMs?: number;
}

interface Entry {
  channelId: string;
  until: number;
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

  function remember(key: string, channelId: string, now: number): void {
    const entry = younger.get(key);
    if (entry !== undefined) {
      entry.channelId = channelId;
      entry.until = now + ttlMs;
      return;
    }
    if (younger.size >= generationSize) {
      older = younger;
      younger = new Map();
    }
    younger.set(key, { channelId, until: now + ttlMs });
  }

  function recall(key: string | null, now: number): string | null {
    if (key === null) return null;
    const entry = younger.get(key) ?? older.get(key);
    return entry !== undefined && entry.until > now ? entry.channelId : null;
  }

  return {
    prefer(routes, { key }, now, ranksFirst = () => true) {
      const last = recall(key, now);
      if (last === null) return routes;
      const mayPass = (a: Route, b: Route) =>
        a.channel.priority === b.channel.priority && (ranksFirst(a) || !ranksFirst(b));
      return moved(routes, last, mayPass);
    },
    used({ key }, route, now) {
      if (key !== null) remember(key, route.channel.id, now);
    },
  };
}

/**
 * Returns the routes with this channel's first, whatever its priority: only its upstream has what the request refers
 * to.
 */
export function startingAt(routes: readonly Route[], channelId: string): readonly Route[] {
  return moved(routes, channelId, () => true);
}

/** Moves the channel's route before the first one that it may overtake. */
function moved(
  routes: readonly Route[],
  channelId: string,
  mayPass: (wished: Route, other: Route) => boolean,
): readonly Route[] {
  const from = routes.findIndex((route) => route.channel.id === channelId);
  const wished = routes[from];
  if (wished === undefined) return routes;
  const to = routes.findIndex((route) => mayPass(wished, route));
  if (to >= from) return routes;
  return [...routes.slice(0, to), wished, ...routes.slice(to, from), ...routes.slice(from + 1)];
}
