import type { TaskUsage, VideoProtocolName } from '#canonical/index.ts';
import type { ChargeRecord } from '#usage/index.ts';
import type { Hold } from './billing.ts';
import { chargeOf, parseMultiplier, receiptOf, type CostLine } from './cost.ts';

/** What a task costs, fixed when it is created: later changes of prices do not affect it. Plain JSON, stored in its row. */
export interface TaskTerms {
  readonly payer: 'user' | 'team';
  /** The date of the team's budgets; null if a user pays. */
  readonly window: string | null;
  /** Nano-USD, decimal digits. */
  readonly held: string;
  /** What the hold covers: milliseconds or tokens, decimal digits. */
  readonly quantity: string;
  readonly priceVersion: string;
  /** The group's multiplier, as a decimal. */
  readonly multiplier: string;
  readonly rate: {
    readonly part: string;
    /** 10⁻¹⁵ USD per unit, decimal digits. */
    readonly perUnit: string;
    readonly inThousandths: boolean;
    readonly text: string;
  };
}

/** The terms of a task with this hold, for this bound. */
export function termsOfTask(hold: Hold, { rate, quantity }: CostLine<bigint>): TaskTerms {
  const { payer, window, amount, priceVersion, multiplierText } = hold;
  const { part, perUnit, inThousandths, text } = rate;
  return {
    payer,
    window,
    held: String(amount),
    quantity: String(quantity),
    priceVersion,
    multiplier: multiplierText,
    rate: { part, perUnit: String(perUnit), inThousandths, text },
  };
}

/** What a task made, in milliseconds or tokens. */
export interface TaskMeasure {
  readonly quantity: number;
  /** As in the usage row. */
  readonly source: 'reported' | 'estimated' | 'quarantined' | 'none';
}

export interface TaskCharge extends TaskMeasure {
  readonly charge: ChargeRecord;
}

/** Reported quantities are believed up to this multiple of what the hold covers. */
const mostBelieved = 10n;

/**
 * What a task that succeeded costs at its terms. Pure: it does not matter who computes it, or how often.
 * @param missingUsage what a dialect that is priced by tokens charges if none were reported
 */
export function chargeOfTask(
  terms: TaskTerms,
  dialect: VideoProtocolName,
  usage: TaskUsage,
  missingUsage: 'estimate' | 'zero',
): TaskCharge {
  const { quantity, source } = measureTask(BigInt(terms.quantity), dialect, usage, missingUsage);
  const { perUnit, ...rate } = terms.rate;
  const lines = [{ rate: { ...rate, perUnit: BigInt(perUnit) }, quantity }];
  const { items, cost } = receiptOf(lines, parseMultiplier(terms.multiplier));
  const heldAmount = BigInt(terms.held);
  const chargedAmount = chargeOf(cost, heldAmount, source);
  const { payer, window, priceVersion, multiplier } = terms;
  return {
    charge: {
      payer,
      cost: String(chargedAmount),
      held: terms.held,
      overshoot: String(chargedAmount > heldAmount ? chargedAmount - heldAmount : 0n),
      priceVersion,
      multiplier,
      receipt: items,
      window,
    },
    quantity,
    source,
  };
}

/**
 * What a task that succeeded is taken to have made. Also for a task that is free.
 * @param bound what its hold covers (`videoQuantity`)
 */
export function measureTask(
  bound: bigint,
  dialect: VideoProtocolName,
  { quantity, isImplausible }: TaskUsage,
  missingUsage: 'estimate' | 'zero',
): TaskMeasure {
  if (isImplausible) return { quantity: Number(bound), source: 'quarantined' };
  if (quantity === null) {
    // The seconds asked for are what the vendor bills without another word; tokens are known to the vendor alone.
    const isEstimated = dialect === 'video-synthesis' || missingUsage === 'estimate';
    return isEstimated
      ? { quantity: Number(bound), source: 'estimated' }
      : { quantity: 0, source: 'none' };
  }
  const isCount = Number.isSafeInteger(quantity) && quantity >= 0;
  if (!isCount || BigInt(quantity) > bound * mostBelieved) {
    return { quantity: Number(bound), source: 'quarantined' };
  }
  return { quantity, source: 'reported' };
}
