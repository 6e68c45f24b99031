import type { Route } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { Journal } from '#journal/index.ts';
import type { ChannelHealth, ChannelLease } from '#routing/index.ts';
import type { AttemptRecord } from '#usage/index.ts';
import { cleanWords } from '#vendors/index.ts';
import { asGatewayError } from '../ending/finish.ts';
import type { SentRequest } from '../ending/record.ts';
import { ClientGone, type Exchange, type ExchangeInput } from '../exchange.ts';
import { Attempt, type AttemptParts } from './attempt.ts';
import { clientDeadline, totalDeadline } from './deadlines.ts';
import { type OutcomeOf, recordAttempt } from './outcome.ts';
import type { RequestPlan, RoutedRequest } from './request-plan.ts';

/** What the tries need of their exchange. */
export interface TriedExchange extends Pick<Exchange, 'hold'> {
  readonly input: Pick<ExchangeInput, 'id' | 'caller' | 'headers' | 'startedAt'> & {
    readonly client: Pick<
      ExchangeInput['client'],
      'disconnected' | 'fail' | 'failedWith' | 'onDisconnect'
    >;
  };
}

/** What is needed to send the requests of an exchange upstream. */
export interface SendingParts extends AttemptParts {
  readonly health: ChannelHealth;
  /** The gateway's settings; a channel's own take precedence. */
  readonly timeouts: Timeouts;
  /** Whether the texts of errors are kept at all. */
  readonly keepsErrorTexts: boolean;
}

/** What the tries need of the gateway. */
export interface TryingParts extends SendingParts {
  readonly journal: Pick<Journal, 'begin'>;
}

/** A defect of the gateway while it made a request for one channel. Nothing was sent, so another channel may be asked. */
export class BuildingDefect extends Error {
  constructor(defect: unknown) {
    super('a request could not be made', { cause: defect });
  }
}

/** An error of making a request, as it is to be thrown. */
export function asBuildingDefect(error: unknown): unknown {
  return error instanceof GatewayError || error instanceof ClientGone
    ? error
    : new BuildingDefect(error);
}

/** The requests that one exchange sends upstream, one after another, and the record of each for the usage row. */
export class Tries<Sent extends SentRequest, Result, Seen> {
  /** How many requests were sent upstream, including the repetition after a stale connection. */
  count = 0;
  /** One for each of them that has ended, in order. */
  readonly attempts: AttemptRecord[] = [];
  /** The request that was sent last; null when none was. */
  last: Sent | null = null;
  readonly #parts: TryingParts;
  readonly #exchange: TriedExchange;
  readonly #plan: RequestPlan<Sent, Result, Seen>;
  #running: Attempt<Result, Seen> | null = null;
  /** Unix milliseconds at which the last request was sent. */
  #startedAt = 0;

  constructor(parts: TryingParts, exchange: TriedExchange, plan: RequestPlan<Sent, Result, Seen>) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#plan = plan;
  }

  /**
   * Sends one request, waits for the attempt's end, and records it for the usage row. This function waits as long as the
   * response takes, so it must not hold the request's text.
   * @throws GatewayError, ClientGone, BuildingDefect
   */
  async attempt(route: Route, lease: ChannelLease): Promise<OutcomeOf<Result, Seen>> {
    this.count += 1;
    const { clock, health } = this.#parts;
    const starting = this.#start(route, lease);
    const attempt = starting instanceof Promise ? await starting : starting;
    const outcome = await attempt.outcome;
    const durationMs = clock.monotonic() - attempt.startedAt;
    if (this.#plan.kind === 'buffered' && outcome.kind === 'complete') {
      health.took(lease, 'buffered', durationMs);
    }
    const when = { channel: route.channel.name, startedAt: this.#startedAt, durationMs };
    this.attempts.push(
      recordAttempt(outcome, attempt.upstreamHeaders, when, this.#wordsOf(attempt, route)),
    );
    return outcome;
  }

  #wordsOf({ words }: Attempt<Result, Seen>, { channel }: Route): string | null {
    if (words === null || !this.#parts.keepsErrorTexts) return null;
    const secrets = [...channel.credentials, ...Object.values(channel.headers)];
    return cleanWords(words, secrets, new URL(channel.baseUrl).hostname);
  }

  /**
   * Makes the request and sends it. A promise only where a thread makes it.
   * @throws GatewayError, ClientGone, BuildingDefect; or rejects with one of them
   */
  #start(
    route: Route,
    lease: ChannelLease,
  ): Attempt<Result, Seen> | Promise<Attempt<Result, Seen>> {
    let request;
    try {
      request = this.#plan.request(route, lease);
    } catch (error) {
      throw asBuildingDefect(error);
    }
    if (!(request instanceof Promise)) return this.#send(route, request);
    return request.then(
      (ready) => this.#send(route, ready),
      (error: unknown) => {
        throw asBuildingDefect(error);
      },
    );
  }

  /** The only place where an attempt begins, but for those at counters. @throws BuildingDefect */
  #send({ channel }: Route, request: RoutedRequest<Sent, Result, Seen>): Attempt<Result, Seen> {
    const { clock, journal, timeouts } = this.#parts;
    const { input, hold } = this.#exchange;
    const { keyId, userId, teamId } = input.caller;
    const startedAt = clock.now();
    // From here on the upstream may bill this, even if nothing more is heard of it.
    journal.begin({
      id: input.id,
      attempt: this.count,
      time: startedAt,
      keyId,
      userId,
      teamId,
      model: this.#plan.model,
      channel: channel.name,
      held: hold?.amount ?? null,
    });
    try {
      const deadline = totalDeadline(input, channel, timeouts);
      // What is read to its end in any case ends in no hurry either.
      const patientUntil =
        request.onLeave === 'finish' ? Number.POSITIVE_INFINITY : clientDeadline(input);
      this.#running = new Attempt(this.#parts, input, request, deadline, patientUntil);
    } catch (error) {
      throw asBuildingDefect(error);
    }
    this.#startedAt = startedAt;
    this.last = request.sentRequest;
    return this.#running;
  }

  /** Called by the client's connection, which would not catch an exception. */
  clientDisconnected(): void {
    try {
      this.#running?.clientDisconnected();
    } catch (error) {
      this.#running?.end(asGatewayError(this.#parts, this.#exchange.input, error));
    }
  }
}
