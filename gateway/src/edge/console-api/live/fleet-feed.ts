import type { OpenedExchange } from '#observability/index.ts';
import { lineVersion, withoutWords, type ExchangeRecord } from '#usage/index.ts';
import { createLiveFeed, type LiveFeed, type LiveFeedOptions } from './feed.ts';

/** `watching`: somebody watches on the process that the text names. `requests`: what requests of a process do. */
export type FeedTopic = 'watching' | 'requests';

/** Carries short texts between the processes that share a database, also to the one that sends. A text may be lost. */
export interface FeedLink {
  /** Of a text, in bytes. */
  readonly longest: number;
  send(topic: FeedTopic, texts: readonly string[]): Promise<void>;
  /** @param onReady called whenever texts begin to arrive: at first, and after a loss */
  listen(
    topic: FeedTopic,
    onText: (text: string) => void,
    onReady?: () => void,
  ): { readonly close: () => void };
}

/** Milliseconds. */
const times = Object.freeze({
  /** For how long others send after the last word of a watching process. */
  interest: 30_000,
  /** Between two words of a watching process. */
  renewal: 10_000,
  /** Between two messages of what requests do; one that has nothing to say says so with each renewal. */
  turn: 250,
});
/** Requests in a message: as many as a page shows of all processes. The others are counted. */
const mostPerTurn = 12;

type OwnEvent =
  | { readonly kind: 'started'; readonly exchange: OpenedExchange }
  | { readonly kind: 'finished'; readonly record: ExchangeRecord };

interface Message {
  readonly from: string;
  /** A record of another form cannot be shown here. */
  readonly form: number;
  readonly events: readonly OwnEvent[];
  /** How many more there were. */
  readonly left: number;
}

export interface FleetFeedOptions extends LiveFeedOptions {
  readonly link: FeedLink;
  /** Of this process, different from all others. */
  readonly id: string;
}

/**
 * A feed that has what all processes do, as long as somebody watches one of them: a process that is watched says so, and
 * the others send only then. Nothing that happens to a message reaches a request.
 */
export function createFleetFeed(options: FleetFeedOptions): LiveFeed & { close(): void } {
  const { link, id, monotonic } = options;
  const feed = createLiveFeed(options);
  /** While this process is watched, or was until a moment ago. */
  let attention: { readonly listening: { close(): void }; readonly timer: NodeJS.Timeout } | null =
    null;
  /** When each of the others was heard last, while this process is watched. */
  const heardAt = new Map<string, number>();
  /** While another one is. */
  let turns: NodeJS.Timeout | null = null;
  let watchedUntil = -Infinity;
  /** When its own word arrived, which proves that words arrive. */
  let echoedAt = -Infinity;
  let pending: OwnEvent[] = [];
  let left = 0;
  let isSending = false;
  let sentAt = -Infinity;

  const others = link.listen('watching', (from) => {
    if (from === id) {
      echoedAt = monotonic();
      return;
    }
    watchedUntil = monotonic() + times.interest;
    turns ??= setInterval(turn, times.turn).unref();
  });

  function attend(): void {
    if (attention !== null) return;
    attention = {
      // Whoever hears of the interest may send at once.
      listening: link.listen('requests', receive, sayWatching),
      timer: setInterval(() => {
        if (!feed.isKept) return stopAttending();
        sayWatching();
        for (const [from, at] of heardAt) {
          if (monotonic() - at <= times.interest) continue;
          heardAt.delete(from);
          feed.gone(from);
        }
      }, times.renewal).unref(),
    };
  }

  function sayWatching(): void {
    // A page misses what others do until the next word.
    link.send('watching', [id]).catch(() => {});
  }

  function stopAttending(): void {
    if (attention === null) return;
    attention.listening.close();
    clearInterval(attention.timer);
    attention = null;
    heardAt.clear();
    echoedAt = -Infinity;
  }

  function receive(text: string): void {
    const message = messageFrom(text);
    if (message === null || message.from === id || !feed.isKept) return;
    const { from, form, events, left: more } = message;
    heardAt.set(from, monotonic());
    const isKnown = form === lineVersion;
    for (const event of isKnown ? events : []) {
      if (event.kind === 'started') feed.started(event.exchange, from);
      else feed.finished(event.record);
    }
    const count = more + (isKnown ? 0 : events.length);
    if (count > 0) feed.left(count);
  }

  function collect(event: OwnEvent): void {
    if (turns === null) return;
    pending.push(event);
    // In steps: a turn may have thousands.
    if (pending.length < 10 * mostPerTurn) return;
    left += pending.length - mostPerTurn;
    pending = pending.slice(-mostPerTurn);
  }

  function turn(): void {
    if (monotonic() > watchedUntil) stopSending();
    else if (!isSending && (pending.length + left > 0 || monotonic() - sentAt >= times.renewal)) {
      isSending = true;
      sentAt = monotonic();
      const sent = pending.slice(-mostPerTurn);
      const count = left + pending.length - sent.length;
      pending = [];
      left = 0;
      const { texts, unsent } = textsOf(sent.map(shown), count);
      link
        .send('requests', texts)
        .catch(() => {
          left += count + sent.length - unsent;
        })
        .finally(() => {
          isSending = false;
        });
    }
  }

  function stopSending(): void {
    if (turns !== null) clearInterval(turns);
    turns = null;
    pending = [];
    left = 0;
  }

  /** As few texts as hold the events; those that are longer than a text are counted instead. */
  function textsOf(events: readonly OwnEvent[], count: number) {
    const head = { from: id, form: lineVersion };
    const room =
      link.longest - Buffer.byteLength(JSON.stringify({ ...head, events: [], left: 0 })) - 20;
    const parts: string[][] = [[]];
    let used = 0;
    let unsent = 0;
    for (const event of events) {
      const text = JSON.stringify(event);
      const size = Buffer.byteLength(text) + 1;
      if (size > room) {
        unsent += 1;
        continue;
      }
      if (used + size > room) {
        parts.push([]);
        used = 0;
      }
      parts.at(-1)?.push(text);
      used += size;
    }
    const texts = parts.map((part, at) => {
      const more = at === 0 ? count + unsent : 0;
      return `{"from":${JSON.stringify(id)},"form":${lineVersion},"events":[${part.join()}],"left":${more}}`;
    });
    return { texts, unsent };
  }

  return {
    get last() {
      return feed.last;
    },
    get finishedCount() {
      return feed.finishedCount;
    },
    get watchers() {
      return feed.watchers;
    },
    get isKept() {
      return feed.isKept;
    },
    get isWhole() {
      return monotonic() - echoedAt <= times.interest;
    },
    epoch: feed.epoch,
    left: feed.left,
    gone: feed.gone,
    started(exchange) {
      feed.started(exchange);
      collect({ kind: 'started', exchange });
    },
    finished(record) {
      feed.finished(record);
      collect({ kind: 'finished', record });
    },
    watch(watcher) {
      const leave = feed.watch(watcher);
      attend();
      return leave;
    },
    close() {
      others.close();
      stopAttending();
      stopSending();
    },
  };
}

/** Null: another program sent it. */
function messageFrom(text: string): Message | null {
  try {
    const message = JSON.parse(text) as Partial<Message>;
    return Array.isArray(message.events) ? (message as Message) : null;
  } catch {
    return null;
  }
}

/** What a row of a list needs. Messages and words of errors are for few, and are read where they are shown. */
function shown(event: OwnEvent): OwnEvent {
  if (event.kind === 'started') {
    const { model, stream, input } = event.exchange;
    const { id, arrivedAt, caller, protocol, operation, headers } = input;
    const { keyId, userId, teamId } = caller;
    const agent = headers['user-agent'];
    return {
      kind: 'started',
      exchange: {
        model,
        stream,
        input: {
          id,
          arrivedAt,
          caller: { keyId, userId, teamId },
          protocol,
          operation,
          headers: typeof agent === 'string' ? { 'user-agent': agent.slice(0, 256) } : {},
        },
      },
    };
  }
  const { message: _message, upstreamState: _state, ...record } = event.record;
  return {
    kind: 'finished',
    record: { ...record, attempts: record.attempts.map(withoutWords) },
  };
}
