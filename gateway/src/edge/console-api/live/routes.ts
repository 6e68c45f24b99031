import type { FastifyInstance } from 'fastify';
import { clientOf, entryOf, namesOf } from '#usage/index.ts';
import { contract, exportedRow, startedRequest } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { serveStream } from '../serve-route.ts';
import { scopeOf, termsOf, type UsageRoutesOptions, rowOf } from '../usage/filter.ts';
import { mostMissed, type LiveEvent, type LiveFeed } from './feed.ts';
import { matches, type LiveFilter } from './matches.ts';

export interface LiveRoutesOptions extends UsageRoutesOptions {
  readonly feed: LiveFeed;
}

type ShownEvent = Exclude<LiveEvent, { readonly kind: 'left' }>;

const linesOf = (event: string, data: object) =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
const mostWatchers = 20;
/** Milliseconds between two looks at what has happened. */
const turn = 250;
/** Events in a turn for all watchers together: fifty a second. */
const perTurn = Math.floor((50 * turn) / 1_000);
const turnsOfComment = 15_000 / turn;
const turnsOfSession = 1_000 / turn;
/** Unread bytes of a watcher above which rows are left out. */
const mostWaiting = 262_144;
/** Events that wait for the next turn; more are left out. */
const mostPending = 200;

/** What requests do while a page watches. */
export function liveRoutes(scope: FastifyInstance, options: LiveRoutesOptions): void {
  const { feed, reads, now, callerFor } = options;
  const names = createNames(options);

  serveStream(scope, contract.watchUsage, options, async ({ query, caller, request }, begin) => {
    if (feed.watchers >= mostWatchers) {
      throw new ApiError('too_many', 'too many people are watching, try later', { retryAfter: 30 });
    }
    const terms = termsOf(query);
    const filter = { terms, ...(await reads((db) => scopeOf(db, caller))) };
    const since = request.headers['last-event-id'];
    const missedEvents = missedSince(feed, typeof since === 'string' ? since : null);
    const pending: ShownEvent[] = [];
    let { dropped } = missedEvents;
    const unwatch = feed.watch((event) => {
      if (event.kind === 'left') dropped += event.count;
      else if (pending.length < mostPending) pending.push(event);
      else dropped += 1;
    });
    const body = begin('text/event-stream', ['x-accel-buffering', 'no']);
    body.write(': requests as they start and end\n\n');
    // Where to continue if nothing finishes before the connection is lost.
    if (since === undefined) body.write(`id: ${feed.epoch}-${feed.finishedCount}-${now()}\n\n`);
    let isWhole: boolean | null = null;
    let turns = 0;
    let isBusy = false;
    const timer = setInterval(() => {
      turns += 1;
      if (isBusy) return;
      isBusy = true;
      void tell()
        .catch(() => stop())
        .finally(() => {
          isBusy = false;
        });
    }, turn);
    body.once('close', stop);
    // No browser half-closes a stream of events: after a FIN the page is gone, though the server could still write.
    request.raw.socket.once('end', stop);

    function stop(): void {
      clearInterval(timer);
      request.raw.socket.off('end', stop);
      unwatch();
      body.end();
    }

    async function tell(): Promise<void> {
      // A session that has ended, or a gateway that stops.
      if (scope.isDraining()) return stop();
      if (turns % turnsOfSession === 0) await callerFor(request);
      if (turns % turnsOfComment === 0) body.write(': still here\n\n');
      if (feed.isWhole !== isWhole) {
        isWhole = feed.isWhole;
        body.write(linesOf('scope', { all: isWhole }));
      }
      const isSlow = body.writableLength > mostWaiting;
      const share = isSlow ? 0 : Math.max(1, Math.floor(perTurn / feed.watchers));
      dropped += Math.max(0, pending.length - share);
      const fresh = share === 0 ? [] : pending.slice(-share);
      pending.length = 0;
      // What was missed is brought whole, once: there are at most 500.
      const shownEvents = isSlow ? [] : [...missedEvents.events.splice(0), ...fresh];
      if (shownEvents.length === 0 && dropped === 0) return;
      const texts: string[] = [];
      for (const event of shownEvents) {
        const text = await names.textOf(event, filter, feed.epoch);
        if (text !== null) texts.push(text);
      }
      if (dropped > 0 && !isSlow) {
        texts.push(linesOf('dropped', { count: dropped }));
        dropped = 0;
      }
      if (texts.length > 0) body.write(texts.join(''));
    }
  });
}

/** Requests that finished while the page was not connected, and how many more there were. */
function missedSince(
  { last, epoch, finishedCount }: LiveFeed,
  id: string | null,
): { readonly events: ShownEvent[]; readonly dropped: number } {
  const match = id === null ? null : /^(\d{1,15})-(\d{1,15})-(\d{1,15})$/.exec(id);
  if (match === null) return { events: [], dropped: 0 };
  const [itsEpoch = 0, number = 0, time = 0] = match.slice(1).map(Number);
  if (itsEpoch === epoch) {
    const events = last.filter((event) => event.number > number).slice(-mostMissed);
    return { events, dropped: Math.max(0, finishedCount - number - events.length) };
  }
  // For another process the number is unknown.
  return { events: last.filter(({ record }) => record.time > time).slice(-mostMissed), dropped: 0 };
}

const agentOf = (header: string | readonly string[] | undefined) =>
  typeof header === 'string' ? header : null;

/** Rows need names, and records have ids. */
function createNames({ reads, now }: Pick<UsageRoutesOptions, 'reads' | 'now'>) {
  const knownNames = new Map<string, string | null>();
  const most = 5_000;
  let readAt = now();

  async function nameOf(kind: 'key' | 'user' | 'team', id: string): Promise<string | null> {
    // A key may get another name.
    if (now() - readAt > 60_000) {
      knownNames.clear();
      readAt = now();
    }
    const place = `${kind} ${id}`;
    const knownName = knownNames.get(place);
    if (knownName !== undefined) return knownName;
    const name = (await reads((db) => namesOf(db, kind, [id]))).get(id) ?? null;
    if (knownNames.size >= most) knownNames.clear();
    knownNames.set(place, name);
    return name;
  }
  return {
    /** The event as it is sent; null: it is not for this filter. */
    async textOf(event: ShownEvent, filter: LiveFilter, epoch: number): Promise<string | null> {
      if (event.kind === 'gone') return linesOf('gone', { node: event.node });
      if (event.kind === 'started') {
        const { model, stream, input } = event.exchange;
        const { keyId, userId, teamId } = input.caller;
        const row = {
          id: input.id,
          time: new Date(input.arrivedAt).toISOString(),
          key: (await nameOf('key', keyId)) ?? keyId,
          key_id: keyId,
          user: (await nameOf('user', userId)) ?? userId,
          team: teamId === null ? null : ((await nameOf('team', teamId)) ?? teamId),
          model,
          protocol: input.protocol,
          operation: input.operation,
          client: clientOf(agentOf(input.headers['user-agent'])),
          stream,
          node: event.node,
        };
        const ids = { user_id: userId, team_id: teamId };
        if (!matches(filter, { ...row, ...ids })) return null;
        return linesOf('started', startedRequest.parse(row));
      }
      const { record, number } = event;
      const { keyId, userId, teamId } = record;
      const entry = entryOf(record, {
        key: await nameOf('key', keyId),
        user: await nameOf('user', userId),
        team: teamId === null ? null : await nameOf('team', teamId),
      });
      const ids = { user_id: userId, team_id: teamId };
      if (!matches(filter, { ...entry, ...ids, ended: entry })) {
        // It matched for as long as its end was not known.
        return matches(filter, { ...entry, ...ids }) ? linesOf('ended', { id: entry.id }) : null;
      }
      const id = `${epoch}-${number}-${record.time}`;
      return `id: ${id}\n${linesOf('finished', exportedRow.parse(rowOf(entry)))}`;
    },
  };
}
