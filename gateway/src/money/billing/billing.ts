import type { Caller } from '#identity/index.ts';
import { isPriced, type Group, type Model } from '#catalogue/index.ts';
import type { ChargedLease, HoldDecision, HoldRequest, Money, TaskEnd } from '#limits/index.ts';
import { GatewayError, type ErrorName } from '#errors/index.ts';
import type { ChargeRecord } from '#usage/index.ts';
import {
  chargeOf,
  holdOf,
  parseMultiplier,
  receiptOf,
  type CostLine,
  type Multiplier,
} from './cost.ts';
import { metersOf, type CallerMeters } from './meters.ts';
import { ratesOf, type PriceRates } from './rates.ts';

/** A request that is about to be sent. */
export interface Order {
  /** The id of the exchange. */
  readonly id: string;
  readonly caller: Caller;
  /** Priced (`isPriced`). */
  readonly model: Model;
  readonly group: Group;
  /** The most that it can use. Not called if nothing can cost anything. */
  readonly bound: (rates: PriceRates) => readonly CostLine<number | bigint>[];
  /** Unix milliseconds after which the exchange cannot be running any more. */
  readonly expiresAt: number;
  /** For a task, whose hold lasts: the whole bound or a refusal, never all that is left. Absent: false. */
  readonly isExact?: boolean;
}

/** A hold that is about to become that of a task: for `holdForTask`, in the transaction that creates the task. */
export interface MovedHold {
  /** All meters of the task. */
  readonly meters: readonly string[];
  /** Nano-USD. */
  readonly amount: bigint;
  /** The leases in which it lies. */
  readonly lease: ChargedLease | null;
}

/** Money held for one exchange, and the terms of its admission: later changes do not affect them. */
export interface Hold {
  readonly id: string;
  readonly payer: 'user' | 'team';
  /** Nano-USD. `extend` raises it. */
  amount: bigint;
  /** It is all that was left, and less than the request may cost. */
  readonly isShort: boolean;
  readonly meters: readonly string[];
  /** The date of the team's budgets; null if a user pays. */
  readonly window: string | null;
  readonly rates: PriceRates;
  readonly priceVersion: string;
  readonly multiplier: Multiplier;
  readonly multiplierText: string;
  /** For more money of the same meters. */
  readonly source: Pick<HoldRequest, 'meters' | 'expiresAt' | 'unleasedMost'>;
  /** The ids of what `extend` has added. */
  readonly extensions: string[];
  hasEnded: boolean;
}

export interface Billing {
  /** Whether every request to this model is free: all prices are 0, or the group's multiplier is. */
  isFree(model: Model, group: Group): boolean;
  /**
   * Holds the most that the request can cost, or all that is left. Null: the request is free. Immediate unless
   * it has to wait for the database.
   * @throws GatewayError the 402 or 429 of the first exhausted limit.
   */
  hold(order: Order): Hold | null | Promise<Hold | null>;
  /**
   * Adds to a hold that the exchange is about to pass: this amount, or all that is left. Resolves to null, to the error
   * of the first exhausted limit if nothing is left, or to `unavailable` if it cannot be decided.
   */
  extend(hold: Hold, amount: bigint): GatewayError | null | Promise<GatewayError | null>;
  /** What these lines cost at the rates of the hold, in nano-USD. */
  costOf(hold: Hold, lines: (rates: PriceRates) => readonly CostLine[]): bigint;
  /**
   * Charges what was used, at the rates of the hold. `source` as in the usage row: counts that were not reported cost
   * no more than the hold.
   */
  charge(
    hold: Hold,
    lines: (rates: PriceRates) => readonly CostLine[],
    source: 'reported' | 'estimated' | 'quarantined' | 'none',
  ): ChargeRecord;
  /**
   * Takes the hold out of the money of this process, right before the transaction that makes it that of a task.
   * `taskBegun` follows, even if the transaction fails.
   * @throws GatewayError `unavailable` if it has expired.
   */
  taskBeginning(hold: Hold): MovedHold;
  /**
   * What became of that transaction; the hold has ended then. `unknown`: its connection broke during the commit, so the
   * database is asked later whether the task exists.
   */
  taskBegun(hold: Hold, outcome: 'committed' | 'rolled-back' | 'unknown'): void;
  /** Call it before the transaction that ends a task. @throws GatewayError `unavailable` */
  taskEnding(meters: readonly string[]): Promise<void>;
  /** Call it after the commit of that transaction, once. */
  taskEnded(end: TaskEnd): void;
  /** Ends the hold: call it after the charge is durable, or with null if nothing is owed. */
  commitHold(hold: Hold, charge: ChargeRecord | null): void;
}

export interface BillingOptions {
  readonly money: Money;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const multipliers = new WeakMap<Group, Multiplier>();

/** Creates holds and charges. */
export function createBilling({ money, now }: BillingOptions): Billing {
  return {
    isFree: (model, group) => termsOf(model, group) === null,

    hold(order) {
      const terms = termsOf(order.model, order.group);
      if (terms === null) return null;
      const { rates, multiplier } = terms;
      const { id, caller, expiresAt, isExact = false } = order;
      const amount = holdOf(order.bound(rates), multiplier);
      const meters = metersOf(caller, now());
      const unleasedMost = caller.team?.unleasedMost ?? null;
      const request = { id, amount, meters: meters.meters, expiresAt, isExact, unleasedMost };
      const decision = money.hold(request);
      return decision instanceof Promise
        ? decision.then((decided) => openHold(order, terms, meters, request, decided))
        : openHold(order, terms, meters, request, decision);
    },

    extend(hold, amount) {
      const id = `${hold.id}+${hold.extensions.length + 1}`;
      // What a request needs to begin does not matter to one that has begun.
      const meters = hold.source.meters.map((meter) => ({ ...meter, floor: 1n }));
      const finish = (decision: HoldDecision): GatewayError | null => {
        if (!decision.isHeld) return refusal(decision.denied);
        if (hold.hasEnded) money.commitHold(id, 0n);
        else {
          hold.extensions.push(id);
          hold.amount += decision.amount;
        }
        return null;
      };
      const decision = money.hold({ ...hold.source, id, amount, meters });
      return decision instanceof Promise
        ? decision.then(finish, errorOfUndecided)
        : finish(decision);
    },

    costOf: (hold, lines) => receiptOf(lines(hold.rates), hold.multiplier).cost,

    charge(hold, lines, source) {
      const { items, cost } = receiptOf(lines(hold.rates), hold.multiplier);
      const chargedAmount = chargeOf(cost, hold.amount, source);
      const lease = money.announceCharge([hold.id, ...hold.extensions], hold.meters, chargedAmount);
      const overshoot = chargedAmount > hold.amount ? chargedAmount - hold.amount : 0n;
      return {
        payer: hold.payer,
        cost: chargedAmount.toString(),
        held: hold.amount.toString(),
        overshoot: overshoot.toString(),
        priceVersion: hold.priceVersion,
        multiplier: hold.multiplierText,
        receipt: items,
        window: hold.window,
        ...(lease !== null && { lease }),
      };
    },

    taskBeginning(hold) {
      const { id, meters, amount } = hold;
      return { meters, amount, lease: money.taskBeginning(id, meters) };
    },

    taskBegun(hold, outcome) {
      hold.hasEnded = true;
      money.taskBegun(hold.id, outcome);
    },

    taskEnding: (meters) => money.taskEnding(meters),
    taskEnded: (end) => money.taskEnded(end),

    commitHold(hold, charge) {
      hold.hasEnded = true;
      money.commitHold(hold.id, charge === null ? 0n : BigInt(charge.cost));
      for (const id of hold.extensions) money.commitHold(id, 0n);
    },
  };
}

/** @throws GatewayError if nothing was held. */
function openHold(
  { id, caller }: Order,
  terms: Terms,
  { names, window }: CallerMeters,
  { amount, meters, expiresAt, unleasedMost = null }: HoldRequest,
  decision: HoldDecision,
): Hold {
  if (!decision.isHeld) throw refusal(decision.denied);
  return {
    ...terms,
    isShort: decision.amount < amount,
    source: { meters, expiresAt, unleasedMost },
    extensions: [],
    hasEnded: false,
    id,
    payer: caller.team === null ? 'user' : 'team',
    amount: decision.amount,
    meters: names,
    window,
  };
}

/** More money cannot be decided about: nothing was added, and the exchange continues with what it holds. */
function errorOfUndecided(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  throw error;
}

type Terms = Pick<Hold, 'rates' | 'priceVersion' | 'multiplier' | 'multiplierText'>;

/** Null if nothing can cost anything: then neither balance nor limits matter. */
function termsOf(model: Model, group: Group): Terms | null {
  const { price, priceVersion } = model;
  // Admitting a model without a price for the operation is a defect; nothing is given away for it.
  if (price === null || priceVersion === null || !isPriced(model)) {
    throw new GatewayError('internal_error');
  }
  const rates = ratesOf(price);
  let multiplier = multipliers.get(group);
  if (multiplier === undefined) {
    multipliers.set(group, (multiplier = parseMultiplier(group.priceMultiplier)));
  }
  if (multiplier === 0n || rates.isZero) return null;
  return { rates, priceVersion, multiplier, multiplierText: group.priceMultiplier };
}

/** By the end of the meter's name, without a window's date; see `limits/money.ts`. */
const errors: readonly (readonly [meter: RegExp, error: ErrorName])[] = [
  [/:balance$/, 'insufficient_balance'],
  [/^user:[^:]*:quota$/, 'user_quota_exceeded'],
  [/^key:[^:]*:quota$/, 'key_quota_exceeded'],
  [/:daily:/, 'team_daily_budget_exceeded'],
  [/:monthly:/, 'team_monthly_budget_exceeded'],
  [/:total$/, 'team_total_budget_exceeded'],
  [/:member:/, 'member_budget_exceeded'],
];

function refusal(meter: string): GatewayError {
  const match = errors.find(([pattern]) => pattern.test(meter));
  const values = { payer: meter.startsWith('team:') ? 'team' : 'user' };
  return new GatewayError(match?.[1] ?? 'internal_error', { values });
}
