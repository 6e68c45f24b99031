import { exact, plus, toNumber, toText, type Exact } from './exact.ts';

/** What may be spent, as the API shows it: amounts are decimal text in USD. */
export interface MoneyLimit {
  readonly limit: string;
  readonly spent: string;
  /** By requests under way and tasks. */
  readonly held: string;
  /** Null: there is none, and nothing comes back. */
  readonly window: { readonly from: string; readonly to: string } | null;
}

export interface LimitState {
  /** Decimal text, not below 0. */
  readonly left: string;
  /** Parts of the limit, together 1 at most. */
  readonly spentPart: number;
  readonly heldPart: number;
  /** Where the window stands; null: it has none. */
  readonly now: number | null;
  /** `early`: at this pace it is used up before its window ends. */
  readonly pace: 'within' | 'early' | 'used-up';
  /** When it is used up at this pace. Unix milliseconds; null: not within its window. */
  readonly reachedAt: number | null;
}

const minus = ({ digits, places }: Exact): Exact => ({ digits: -digits, places });

/** Of a window that has hardly begun the pace says nothing. */
const leastPart = 0.02;

/** How much is left of a limit, and whether it lasts. @param now Unix milliseconds */
export function limitState({ limit, spent, held, window }: MoneyLimit, now: number): LimitState {
  const most = exact(limit);
  const rest = plus(most, minus(plus(exact(spent), exact(held))));
  const [all, spentAmount, heldAmount] = [most, exact(spent), exact(held)].map(toNumber) as [
    number,
    number,
    number,
  ];
  const spentPart = all === 0 ? 1 : Math.min(1, spentAmount / all);
  const heldPart = all === 0 ? 0 : Math.min(1 - spentPart, heldAmount / all);
  const shares = { left: rest.digits > 0n ? toText(rest) : '0', spentPart, heldPart };
  if (window === null) {
    const pace = rest.digits > 0n ? 'within' : 'used-up';
    return { ...shares, now: null, pace, reachedAt: null };
  }
  const [from, to] = [Date.parse(window.from), Date.parse(window.to)];
  const part = Math.min(1, Math.max(0, (now - from) / (to - from)));
  if (rest.digits <= 0n) return { ...shares, now: part, pace: 'used-up', reachedAt: null };
  const isEarly = part >= leastPart && spentAmount > all * part;
  const reachedAt = isEarly ? from + ((now - from) * all) / spentAmount : null;
  return { ...shares, now: part, pace: isEarly ? 'early' : 'within', reachedAt };
}
