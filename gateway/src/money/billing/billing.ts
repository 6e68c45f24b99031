import type { Caller } from '#identity/index.ts';
import { isPriced, type Group, type Model } from '#catalogue/index.ts';
import type { HoldDecision, HoldRequest, Money } from '#limits/index.ts';
import { GatewayError, type ErrorName } from '#errors/index.ts';
import type { ChargeRecord } from '#usage/index.ts';
import { parseMultiplier, receiptOf, type Line, type Multiplier } from './cost.ts';
import { holdOf } from './hold-bound.ts';
import { chargeOf } from './judge-usage.ts';
import { metersOf } from './meters-of.ts';
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
  readonly bound: (rates: PriceRates) => readonly Line<number | bigint>[];
  /** Unix milliseconds after which the exchange cannot be running any more. */
  readonly expiresAt: number;
}

/** Money held for one exchange, and the terms of its admission: later changes do not affect them. */
export interface Hold {
  readonly id: string;
  readonly payer: 'user' | 'team';
  /** Nano-USD. `draw` raises it. */
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
  readonly source: Pick<HoldRequest, 'meters' | 'expiresAt'>;
  /** The ids of what was drawn later. */
  readonly drawn: string[];
  hasEnded: boolean;
}

export interface Billing {
  /** Whether a request to this model is free whatever it uses: every price is 0, or the group's multiplier is. */
  isFree(model: Model, group: Group): boolean;
  /**
   * Holds the most that the request can cost, or all that is left. Null: the request is free. Immediate unless
   * it has to wait for the database.
   * @throws GatewayError the 402 or 429 of the first exhausted limit.
   */
  hold(order: Order): Hold | null | Promise<Hold | null>;
  /**
   * Adds to a hold that the exchange is about to pass: this amount, or all that is left. Resolves to null, to the error
   * of the first exhausted limit if nothing is left, or to `unavailable` if nobody can decide.
   */
  draw(hold: Hold, amount: bigint): GatewayError | null | Promise<GatewayError | null>;
  /** What these lines cost at the rates of the hold, in nano-USD. */
  costOf(hold: Hold, lines: (rates: PriceRates) => readonly Line[]): bigint;
  /**
   * Charges what was used, at the rates of the hold. `source` as in the usage row: counts that were not reported cost
   * no more than the hold.
   */
  charge(
    hold: Hold,
    lines: (rates: PriceRates) => readonly Line[],
    source: 'reported' | 'estimated' | 'quarantined' | 'none',
  ): ChargeRecord;
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
      const { id, caller } = order;
      const amount = holdOf(order.bound(rates), multiplier);
      const { meters, window } = metersOf(caller, now());
      const decision = money.hold({ id, amount, meters, expiresAt: order.expiresAt });
      const finish = (decided: HoldDecision): Hold => {
        if (!decided.held) throw refusal(decided.denied);
        return {
          ...terms,
          isShort: decided.amount < amount,
          source: { meters, expiresAt: order.expiresAt },
          drawn: [],
          hasEnded: false,
          id,
          payer: caller.team === null ? 'user' : 'team',
          amount: decided.amount,
          meters: meters.map(({ name }) => name),
          window,
        };
      };
      return decision instanceof Promise ? decision.then(finish) : finish(decision);
    },

    draw(hold, amount) {
      const id = `${hold.id}+${hold.drawn.length + 1}`;
      const { expiresAt } = hold.source;
      // What a request needs to begin does not matter to one that has begun.
      const meters = hold.source.meters.map((meter) => ({ ...meter, floor: 1n }));
      const finish = (decided: HoldDecision): GatewayError | null => {
        if (!decided.held) return refusal(decided.denied);
        if (hold.hasEnded) money.commitHold(id, 0n);
        else {
          hold.drawn.push(id);
          hold.amount += decided.amount;
        }
        return null;
      };
      const decision = money.hold({ id, amount, meters, expiresAt });
      return decision instanceof Promise ? decision.then(finish, undecided) : finish(decision);
    },

    costOf: (hold, lines) => receiptOf(lines(hold.rates), hold.multiplier).cost,

    charge(hold, lines, source) {
      const { items, cost } = receiptOf(lines(hold.rates), hold.multiplier);
      const charged = chargeOf(cost, hold.amount, source);
      const lease = money.charge([hold.id, ...hold.drawn], hold.meters, charged);
      const overshoot = charged > hold.amount ? charged - hold.amount : 0n;
      return {
        payer: hold.payer,
        cost: charged.toString(),
        held: hold.amount.toString(),
        overshoot: overshoot.toString(),
        priceVersion: hold.priceVersion,
        multiplier: hold.multiplierText,
        receipt: items,
        window: hold.window,
        ...(lease !== null && { lease }),
      };
    },

    commitHold(hold, charge) {
      hold.hasEnded = true;
      money.commitHold(hold.id, charge === null ? 0n : BigInt(charge.cost));
      for (const id of hold.drawn) money.commitHold(id, 0n);
    },
  };
}

/** Nobody can decide about a draw: nothing was drawn, and the exchange continues with what it holds. */
function undecided(error: unknown): GatewayError {
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
  const found = errors.find(([pattern]) => pattern.test(meter));
  return new GatewayError(found?.[1] ?? 'internal_error');
}
