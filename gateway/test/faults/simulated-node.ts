import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Billing, createBilling, type Hold, metersOf, textBound } from '#billing/index.ts';
import { noTokens } from '#canonical/index.ts';
import type { Group, Model as PricedModel } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { Caller, CallerTeam, CallerUser } from '#identity/index.ts';
import { createMemoryMoney, type Money, type SpentSource } from '#limits/index.ts';
import { type Exchange, openExchange } from '#relay/exchange.ts';
import { finishExchange } from '#relay/ending/finish.ts';
import { type Ending, nothingTried, nothingUsed, type SentRequest } from '#relay/ending/record.ts';
import type { TextInput } from '#relay/text/input.ts';
import { measureText } from '#relay/text/measure-text.ts';
import type { AttemptRecord, ExchangeRecord, Outcome } from '#usage/index.ts';
import { unpaidAttempt } from '../journal/records.ts';
import type { SimulatedClock } from './simulated-clock.ts';

/** Milliseconds after which no request can still be running. */
const longest = 600_000;
/** The most that a request may use, as it declares. */
const most = { bodyBytes: 400, outputLimit: 400 } as const;

/** The upstream's prices in nano-USD per token; they change during the run. */
export interface SimulatedPrice {
  readonly version: string;
  readonly input: bigint;
  readonly output: bigint;
}

export interface Terms {
  readonly price: SimulatedPrice;
  /** Nano-USD: of the request at its longest, and what was held for it. */
  readonly full: bigint;
  readonly held: bigint;
  /** Meters that had less left than `full`. */
  readonly shortOn: readonly string[];
  readonly meters: readonly string[];
  /** By the monotonic clock. */
  readonly due: number;
}

/** The events, recorded beside the code under test by the simplest means. */
export interface Diary {
  /** On what terms each exchange was admitted. */
  readonly terms: Map<string, Terms>;
  /** How often an upstream took an exchange and answered it to the end. */
  readonly answered: Map<string, number>;
  /** How often a hold was ended. */
  readonly ended: Map<string, number>;
  /** Exchanges whose clients saw success. */
  readonly shown: Set<string>;
  /** The highest limit of each meter when something was held on it. */
  readonly limits: Map<string, bigint>;
  /** Meters on which more was held than they had left. */
  readonly overdrawn: string[];
  /** Exchanges that will never be ended. */
  readonly abandoned: Set<string>;
}

interface Waiting {
  readonly record: ExchangeRecord;
  readonly keep: () => void;
  readonly refuse: (error: Error) => void;
}

export interface NodeOptions {
  readonly random: () => number;
  readonly clock: SimulatedClock;
  readonly diary: Diary;
  readonly callers: readonly Caller[];
  /** What was spent according to the database. */
  readonly spent: SpentSource;
  /** What tasks hold according to the database. */
  readonly held: SpentSource;
  readonly nextId: () => string;
}

const group: Group = { name: 'default', priceMultiplier: '1' };
const answered: SentRequest = {
  channel: 'main',
  upstreamModel: null,
  rewrites: [],
  losses: [],
  responseLosses: null,
  upstreamState: null,
  ttftMs: null,
};
/** Bodies are not simulated. */
const digestBody = () => '';
const headers = { 'user-agent': 'simulation' };

/** One process: the gateway's own billing, counting in memory and settlement; the upstream and the disk are dice. */
export class SimulatedNode {
  readonly #options: NodeOptions;
  callers: readonly Caller[];
  money: Money;
  #billing: Billing;
  readonly #live = new Map<string, { readonly exchange: Exchange; readonly hold: Hold }>();
  /** Ended, and not durable yet. */
  #waiting: Waiting[] = [];
  /** Durable, and not applied for certain. */
  readonly journal: ExchangeRecord[][] = [];

  constructor(options: NodeOptions) {
    this.#options = options;
    this.callers = options.callers;
    this.money = this.#createMoney();
    this.#billing = createBilling({ money: this.money, now: options.clock.now });
  }

  #createMoney(): Money {
    const { clock, diary, spent, held } = this.#options;
    const { now, monotonic } = clock;
    const money = createMemoryMoney({ now, monotonic, spentSource: spent, heldSource: held });
    const { holding } = this;
    const count = (id: string) => diary.ended.set(id, (diary.ended.get(id) ?? 0) + 1);
    return {
      ...money,
      commitHold(id, amount) {
        count(id);
        holding.delete(id);
        money.commitHold(id, amount);
      },
    };
  }

  get billing(): Billing {
    return this.#billing;
  }

  #below(limit: number): number {
    return Math.floor(this.#options.random() * limit);
  }

  /** Exchanges with held money, including abandoned ones. */
  readonly holding = new Set<string>();

  /** Requests under way and records waiting for the disk, each with the time of its admission. */
  get times(): readonly number[] {
    const live = [...this.#live.values()].map(({ exchange }) => exchange.input.arrivedAt);
    return [...live, ...this.#waiting.map(({ record }) => record.time)];
  }

  /** A request comes in, and is admitted or refused. */
  async begin(price: SimulatedPrice): Promise<void> {
    const { clock, diary, random, nextId } = this.#options;
    const caller = this.callers[this.#below(this.callers.length)]!;
    const id = nextId();
    const model = modelAt(price);
    const exchange = openExchange({ digestBody }, this.#inputOf(id, caller));
    exchange.model = `model-${this.#below(2)}`;
    exchange.catalogueModel = model;
    const { bodyBytes } = most;
    const outputLimit = 1 + this.#below(most.outputLimit);
    const full = BigInt(bodyBytes / 2) * price.input + BigInt(outputLimit) * price.output;
    const limits = metersOf(caller, clock.now()).meters;
    const due = clock.monotonic() + longest;
    try {
      const hold = await this.#billing.hold({
        id,
        caller,
        model,
        group,
        bound: (rates) => textBound(rates, model, { bodyBytes, outputLimit, choices: 1 }),
        expiresAt: clock.now() + longest,
      });
      if (hold === null) throw new Error('nothing here is free');
      exchange.hold = hold;
      const shortOn: string[] = [];
      for (const { name, limit } of limits) {
        const taken = await this.money.read(name);
        if (taken === null) throw new Error(`${name} is held on and not known`);
        const left = limit - taken.spentAmount - taken.heldAmount;
        if (left < 0n) diary.overdrawn.push(name);
        if (left + hold.amount < full) shortOn.push(name);
      }
      const meters = limits.map(({ name }) => name);
      diary.terms.set(id, { price, full, held: hold.amount, shortOn, meters, due });
      for (const { name, limit } of limits) {
        const before = diary.limits.get(name) ?? 0n;
        diary.limits.set(name, limit > before ? limit : before);
      }
      this.holding.add(id);
      this.#live.set(id, { exchange, hold });
      this.#used.set(id, outputLimit);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      if (random() < 0.1)
        this.#end(exchange, {
          outcome: 'refused',
          status: 402,
          error,
          measuredUsage: nothingUsed,
          triedRequests: nothingTried,
        });
    }
  }

  /** The longest output of each request under way. */
  readonly #used = new Map<string, number>();

  #inputOf(id: string, caller: Caller): TextInput {
    const { clock } = this.#options;
    return {
      id,
      arrivedAt: clock.now(),
      startedAt: clock.monotonic(),
      caller,
      pendingRateCheck: null,
      protocol: 'chat',
      operation: 'generate',
      body: Buffer.alloc(0),
      pathModel: null,
      pathStream: null,
      framing: 'event-stream',
      headers,
      client: {} as TextInput['client'],
    };
  }

  /** One request under way comes to an end, whatever end it is. */
  finish(): void {
    const ids = [...this.#live.keys()];
    if (ids.length > 0) this.#finish(ids[this.#below(ids.length)]!);
  }

  #finish(id: string): void {
    const { exchange } = this.#live.get(id)!;
    const { random } = this.#options;
    const attempts =
      random() < 0.2 ? [unpaidAttempt(`spare-${this.#below(2)}`, this.#below(1_000))] : [];
    const way = random();
    if (way < 0.15) this.#end(exchange, this.#failure(id, exchange, attempts));
    else this.#answer(id, exchange, attempts, way);
  }

  /** Some failures have used something, which nobody owes. */
  #failure(id: string, exchange: Exchange, attempts: readonly AttemptRecord[]): Ending {
    const tokens = {
      ...noTokens,
      input: this.#below(200),
      output: this.#below(this.#used.get(id)!),
    };
    const usage = { tokens, source: 'reported', implausible: false } as const;
    const error = new GatewayError('unavailable');
    return {
      outcome: 'failed',
      status: 502,
      error,
      measuredUsage:
        this.#options.random() < 0.5 ? measureText(usage, askedOf(exchange), null) : nothingUsed,
      triedRequests: { attempts, sentRequest: null },
    };
  }

  #answer(id: string, exchange: Exchange, failed: readonly AttemptRecord[], way: number): void {
    const { diary, clock } = this.#options;
    diary.answered.set(id, (diary.answered.get(id) ?? 0) + 1);
    const attempt: AttemptRecord = {
      channel: 'main',
      class: 'shown',
      status: 200,
      result: 'completed',
      startedAt: clock.now(),
      durationMs: 1,
      upstreamRequestId: null,
    };
    const isImplausible = way > 0.95;
    const input = this.#below(1 + most.bodyBytes / 2);
    const output = isImplausible ? 900_000 : this.#below(1 + this.#used.get(id)!);
    const hasLeft = way > 0.8 && !isImplausible;
    const usage = {
      tokens: way < 0.2 ? noTokens : { ...noTokens, input, output },
      source: hasLeft ? 'estimated' : 'reported',
      implausible: isImplausible,
    } as const;
    this.#end(exchange, {
      outcome: hasLeft ? 'client-left' : 'completed',
      status: 200,
      error: null,
      measuredUsage: measureText(usage, askedOf(exchange), null),
      triedRequests: { attempts: [...failed, attempt], sentRequest: answered },
    });
  }

  #end(exchange: Exchange, ending: Ending): void {
    const { clock, diary } = this.#options;
    const { id } = exchange.input;
    this.#live.delete(id);
    this.#used.delete(id);
    const billing = this.#billing;
    const journal = { append: (record: ExchangeRecord) => this.#append(record) };
    const isSuccess = (outcome: Outcome) => outcome === 'completed';
    void finishExchange(
      {
        billing,
        clock,
        digestBody,
        journal,
        keepsErrorTexts: true,
        observer: { finished: () => {} },
      },
      exchange,
      ending,
    ).then(
      () => {
        if (isSuccess(ending.outcome)) diary.shown.add(id);
      },
      () => {},
    );
  }

  #append(record: ExchangeRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, keep: resolve, refuse: reject });
    });
  }

  /** The group commit: from here on these exchanges may not be lost. Gives what became durable. */
  async commit(): Promise<readonly ExchangeRecord[]> {
    const waiting = this.#waiting.splice(0);
    if (waiting.length === 0) return [];
    const batch = waiting.map(({ record }) => record);
    this.journal.push(batch);
    for (const { keep } of waiting) keep();
    await nextTurn();
    return batch;
  }

  /** The disk takes nothing: these responses are not shown, and owe nothing. */
  async fillDisk(): Promise<void> {
    for (const { refuse } of this.#waiting.splice(0)) refuse(new Error('the disk is full'));
    await nextTurn();
  }

  /** All that was in memory is gone; clients see their connections break. Call `restart` afterwards. */
  crash(): void {
    for (const id of this.#live.keys()) this.#options.diary.abandoned.add(id);
    for (const { record } of this.#waiting) this.#options.diary.abandoned.add(record.id);
    this.#live.clear();
    this.holding.clear();
    this.#used.clear();
    this.#waiting = [];
    this.money = this.#createMoney();
    this.#billing = createBilling({ money: this.money, now: this.#options.clock.now });
  }

  /** Before it is so late: what would be due by then fails, or by a defect of ours is never ended. */
  reachDeadline(monotonic: number): void {
    for (const [id, { exchange }] of this.#live) {
      if (this.#options.diary.terms.get(id)!.due > monotonic) continue;
      if (this.#options.random() < 0.5) {
        this.#end(exchange, this.#failure(id, exchange, []));
        continue;
      }
      this.#live.delete(id);
      this.#options.diary.abandoned.add(id);
    }
  }
}

const models = new WeakMap<SimulatedPrice, PricedModel>();

function modelAt(price: SimulatedPrice): PricedModel {
  let model = models.get(price);
  if (model === undefined) {
    model = {
      id: 'm',
      type: 'chat',
      displayName: 'm',
      ownedBy: 'simulation',
      contextWindow: 10_000,
      maxOutputTokens: 1_000,
      capabilities: new Set(),
      echoReasoning: null,
      allow: new Set(),
      enabled: true,
      price: declaredPrice(price),
      priceVersion: price.version,
      createdAt: 1,
    };
    models.set(price, model);
  }
  return model;
}

/** The same model for videos, priced by the second. */
export const videoModelAt = (price: SimulatedPrice): PricedModel => ({
  ...modelAt(price),
  type: 'video',
  price: declaredVideoPrice(price),
  priceVersion: `${price.version}v`,
});

/** Nano-USD for a second of video. */
export const perSecondAt = ({ output }: SimulatedPrice): bigint => output * 100n;

/** USD per second. */
export function declaredVideoPrice(price: SimulatedPrice) {
  return { videoSecond: { '720P': String(Number(perSecondAt(price)) / 1e9) } };
}

/** USD per million tokens. */
export function declaredPrice({ input, output }: SimulatedPrice) {
  return { input: String(Number(input) / 1_000), output: String(Number(output) / 1_000) };
}

/** Keys of one node: two of a user, one of which has a quota, and two that act for a team. */
export function callersOf(node: number, user: CallerUser, team: CallerTeam): Caller[] {
  const own = {
    keyName: 'k',
    userId: user.id,
    user,
    group: 'default',
    models: null,
    ips: [],
    expiresAt: null,
    rpm: null,
    rph: null,
    maxConcurrency: null,
    conversion: 'lenient',
    capOutput: true,
    enabled: true,
  } as const;
  const ofUser = { ...own, teamId: null, team: null, memberBudget: null };
  const ofTeam = { ...own, teamId: team.id, team, memberBudget: 40_000_000_000n };
  return [
    { ...ofUser, keyId: `key_${node}_0`, quota: 20_000_000_000n },
    { ...ofUser, keyId: `key_${node}_1`, quota: null },
    { ...ofTeam, keyId: `key_${node}_2`, quota: null },
    { ...ofTeam, keyId: `key_${node}_3`, quota: 15_000_000_000n },
  ];
}

function askedOf({ catalogueModel }: Exchange): Parameters<typeof measureText>[1] {
  const request = { choices: 1, maxOutputTokens: null };
  return { model: catalogueModel!, request, bounds: { cap: null, mostInput: Infinity } };
}
