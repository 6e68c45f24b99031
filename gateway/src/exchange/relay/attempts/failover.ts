import type { Route } from '#catalogue/index.ts';
import { type ErrorName, GatewayError } from '#errors/index.ts';
import type { AttemptResult, ChannelLease } from '#routing/index.ts';
import type { PassedOver, PassedOverReason } from '#usage/index.ts';
import { type Classification, isSameVendor } from '#vendors/index.ts';
import type { SentRequest } from '../ending/record.ts';
import { ClientGone } from '../exchange.ts';
import { clientDeadline, totalDeadline } from './deadlines.ts';
import { type Failure, finalError } from './final-error.ts';
import {
  type Attempted,
  type AttemptFailure,
  type NotAsked,
  type OutcomeOf,
  resultForHealth,
} from './outcome.ts';
import type { RequestPlan } from './request-plan.ts';
import {
  asBuildingDefect,
  BuildingDefect,
  type TriedExchange,
  Tries,
  type TryingParts,
} from './tries.ts';

/** How many requests one exchange may send upstream. */
const maxTries = 3;

/** How an exchange ends that got as far as an attempt that did not fail. */
type FinalOutcome<Result, Seen> = Exclude<OutcomeOf<Result, Seen>, AttemptFailure>;

/** A 400 that nothing explains, of a request that was converted. */
interface Rejection<Sent> {
  readonly route: Route;
  /** The client's error unless another vendor answers. */
  readonly error: GatewayError;
  readonly request: Sent | null;
  /** How many requests had been sent. */
  readonly sentCount: number;
}

/** What a client gets for a 400 of which only the status, or the name of a field, is known. */
const unexplainedErrors: ReadonlySet<ErrorName> = new Set([
  'upstream_rejected',
  'upstream_rejected_field',
]);

/** Refusals of the request or its credential, and of an upstream that is too busy: it has not begun to work. */
const refusals: ReadonlySet<number | null> = new Set([401, 402, 403, 404, 429, 503, 529]);

const notAsked: NotAsked = Object.freeze({ kind: 'not-asked' });

/** Asks channel after channel, until one answers or the client has seen something. */
export class Failover<Sent extends SentRequest, Result, Seen> {
  readonly #parts: TryingParts;
  readonly #exchange: TriedExchange;
  readonly #plan: RequestPlan<Sent, Result, Seen>;
  readonly #tries: Tries<Sent, Result, Seen>;
  /** How many requests may have reached a model without a response. */
  #uncertain = 0;
  /** No further request may be sent: the last one may have cost the operator something (`RequestPlan.isCostly`). */
  #isSpent = false;
  /** Routes that cannot take this request, and the reason of the first of them. */
  readonly #refusing: Route[] = [];
  #refusal: GatewayError | null = null;
  readonly #failures: Failure[] = [];
  /** The first refusal that may be the conversion's fault. One channel of another vendor is asked after it. */
  #rejection: Rejection<Sent> | null = null;
  readonly #passedOverChannels: PassedOver[] = [];
  /** Defects of the gateway that kept a channel from being asked. */
  readonly #defects: unknown[] = [];

  constructor(parts: TryingParts, exchange: TriedExchange, plan: RequestPlan<Sent, Result, Seen>) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#plan = plan;
    this.#tries = new Tries(parts, exchange, plan);
  }

  /** Called once. Never rejects. */
  async run(): Promise<Attempted<Sent, Result, Seen>> {
    let outcome: Attempted<Sent, Result, Seen>['outcome'];
    let thrownError: unknown = null;
    if (this.#plan.kind === 'stream') {
      this.#exchange.input.client.onDisconnect(() => this.#tries.clientDisconnected());
    }
    try {
      outcome = await this.#tryInTurn();
    } catch (error) {
      thrownError = error;
      outcome = error instanceof ClientGone ? notAsked : { kind: 'unanswered', error };
    }
    for (const defect of this.#defects) {
      // The one that the client's error stands for is reported with it.
      if (defect !== thrownError) this.#parts.onUnexpectedError(defect, this.#exchange.input.id);
    }
    return {
      outcome,
      attempts: this.#tries.attempts,
      sentRequest: this.#tries.last,
      passed: this.#passedOver(),
    };
  }

  /** @throws GatewayError, ClientGone */
  async #tryInTurn(): Promise<FinalOutcome<Result, Seen> | NotAsked> {
    const { health, clock } = this.#parts;
    const { client } = this.#exchange.input;
    const plan = this.#plan;
    const { routes } = plan;
    for (let at = 0; at < routes.length; at += 1) {
      if (this.#tries.count >= maxTries || this.#uncertain > 1 || this.#isSpent) break;
      if (client.disconnected) return notAsked;
      const route = routes[at]!;
      const rejection = this.#rejection;
      if (rejection !== null) {
        if (this.#tries.count > rejection.sentCount) break;
        if (isSameVendor(route.channel, rejection.route.channel)) continue;
      }
      if (this.#tries.count > 0 && !this.#isInTime(route)) {
        this.#passOver(route, 'no-time');
        continue;
      }
      let refusal: GatewayError | null = null;
      try {
        const preparing = plan.unable?.(route) ?? null;
        if (preparing !== null) {
          refusal = await preparing;
          // The conversion may have taken time, for example to fetch media.
          if (client.disconnected) return notAsked;
        }
      } catch (error) {
        this.#passOverDefect(route, asBuildingDefect(error));
        continue;
      }
      if (refusal !== null) {
        this.#refusing.push(route);
        this.#refusal ??= refusal;
        this.#passOver(route, 'unable');
        continue;
      }
      const mayFailOver = at + 1 < routes.length && this.#tries.count + 1 < maxTries;
      const now = clock.monotonic();
      const wantedCredential = plan.credentialFor?.(route) ?? -1;
      const lease = health.lease(route, this.#tries.count > 0, mayFailOver, now, wantedCredential);
      if (!lease.admitted) {
        if (lease.kind !== null) this.#failures.push(lease.kind);
        this.#passOver(route, lease.reason);
        continue;
      }
      try {
        const outcome = await this.#tryRoute(route, lease);
        if (outcome !== null) return outcome;
      } catch (error) {
        this.#passOverDefect(route, error);
        this.#tries.count -= 1;
      }
    }
    return this.#tryLastResort();
  }

  /**
   * Asks a channel that was passed over if none was asked.
   * @throws GatewayError, ClientGone
   */
  async #tryLastResort(): Promise<FinalOutcome<Result, Seen>> {
    const { health, clock } = this.#parts;
    const able = this.#plan.routes.filter((route) => !this.#refusing.includes(route));
    if (able.length === 0 && this.#refusal !== null) throw this.#refusal;
    if (able.length === 0 && this.#defects.length > 0) throw this.#defects[0];
    if (this.#tries.count === 0) {
      const last = health.admitAnyway(able, clock.monotonic());
      if (last !== null) {
        // Each failure is the reason why one channel was passed over. This channel is now asked after all, and its own
        // outcome replaces that reason.
        this.#failures.splice(able.indexOf(last.route), 1);
        const outcome = await this.#tryRoute(last.route, last.lease);
        if (outcome !== null) return outcome;
      }
    }
    if (this.#rejection !== null) {
      this.#tries.last = this.#rejection.request;
      throw this.#rejection.error;
    }
    // None of them answered, so the row names no channel. The records of the attempts say which were asked.
    if (this.#tries.last !== null)
      this.#tries.last = { ...this.#tries.last, channel: null, upstreamModel: null };
    const now = clock.monotonic();
    const waits = able.map((route) => health.waitOf(route, now));
    const { model } = this.#plan;
    throw finalError(this.#failures, Math.min(...waits), model, this.#plan.stateError?.());
  }

  /**
   * Tries one channel, and once more if the connection was stale, or if the upstream has refused what can be edited. The
   * outcome is reported to the channel's health.
   * @returns null when the next channel may be tried.
   * @throws GatewayError when the client is to blame, ClientGone, BuildingDefect
   */
  async #tryRoute(route: Route, lease: ChannelLease): Promise<FinalOutcome<Result, Seen> | null> {
    const plan = this.#plan;
    const { isCostly = false } = plan;
    const { health, clock } = this.#parts;
    let result: AttemptResult = 'undecided';
    try {
      let outcome = await this.#tries.attempt(route, lease);
      if (outcome.kind === 'failed' && outcome.stale && !isCostly && this.#tries.count < maxTries) {
        outcome = await this.#tries.attempt(route, lease);
      }
      const refusal =
        outcome.kind === 'failed' && outcome.final === undefined ? outcome.classification : null;
      const cure = refusal?.kind === 'client' ? refusal.cure : undefined;
      // The refusal cost nothing, so the further request is not one of those that failover may send.
      if (cure !== undefined && !isCostly && (await plan.cure?.(route, cure)) === true) {
        outcome = await this.#tries.attempt(route, lease);
        // A client that leaves proves nothing.
        if (resultForHealth(outcome) === 'answered') plan.cured?.(route);
      }
      if (outcome.kind !== 'failed') {
        result = resultForHealth(outcome);
        return outcome;
      }
      const isStateMissing = plan.lacksState?.(route, outcome) === true;
      if (!isStateMissing) result = resultForHealth(outcome);
      const { classification } = outcome;
      if (outcome.final !== undefined) throw outcome.final;
      if (classification.kind === 'client') {
        this.#rejection = this.#rejectionOf(route, classification, plan.errorOf(outcome));
        return null;
      }
      if (isStateMissing) this.#failures.push('state-missing');
      else if (classification.blame === 'credential') this.#failures.push('credential-refused');
      else this.#failures.push(classification.as);
      if (outcome.class === 'uncertain') this.#uncertain += 1;
      const madeNothing = outcome.class === 'not-sent' || refusals.has(outcome.status);
      if (isCostly && !madeNothing) this.#isSpent = true;
      return null;
    } finally {
      health.reportOutcome(lease, route, result, clock.monotonic());
    }
  }

  /** @throws GatewayError when no other vendor is to be asked */
  #rejectionOf(
    route: Route,
    { error: name, isExplained = false }: Extract<Classification, { kind: 'client' }>,
    error: GatewayError,
  ): Rejection<Sent> {
    if (isExplained || !unexplainedErrors.has(name)) throw error;
    if (this.#rejection !== null) return this.#rejection;
    if (this.#plan.isConverted?.(route) !== true) throw error;
    return { route, error, request: this.#tries.last, sentCount: this.#tries.count };
  }

  /** A defect in one attempt never keeps the next channel from being tried. @throws any other error */
  #passOverDefect(route: Route, error: unknown): void {
    if (!(error instanceof BuildingDefect)) throw error;
    this.#defects.push(error.cause);
    this.#refusing.push(route);
    this.#passOver(route, 'unable');
  }

  #passOver({ channel }: Route, reason: PassedOverReason): void {
    this.#passedOverChannels.push({ channel: channel.name, reason });
  }

  /** Those of the channels that were not asked, in their order; none if the client left before any was. */
  #passedOver(): readonly PassedOver[] {
    const { routes } = this.#plan;
    const passedOverChannels = this.#passedOverChannels;
    const attempts = this.#tries.attempts;
    if (
      attempts.length + passedOverChannels.length === 0 ||
      (routes.length === 1 && passedOverChannels.length === 0)
    ) {
      return passedOverChannels;
    }
    return routes
      .filter(({ channel }) => !attempts.some((attempt) => attempt.channel === channel.name))
      .map(
        ({ channel: { name } }) =>
          passedOverChannels.find(({ channel }) => channel === name) ?? {
            channel: name,
            reason: 'not-reached',
          },
      );
  }

  /**
   * Is there enough time left for this channel's usual response time? Another try that cannot finish in time would be
   * wasted.
   */
  #isInTime(route: Route): boolean {
    const { health, clock, timeouts } = this.#parts;
    const { input } = this.#exchange;
    const deadline = Math.min(clientDeadline(input), totalDeadline(input, route.channel, timeouts));
    return clock.monotonic() + health.usualTime(route, this.#plan.kind) < deadline;
  }
}
