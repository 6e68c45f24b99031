/** Up to this limit every admission is remembered by itself, above it by the part of the span it fell into. */
export const exactLimit = 2_048;
/** How many parts a span has when it is counted by parts. */
export const windowParts = 64;

/**
 * What was admitted in the last `span` milliseconds, as a list of times that only holds what is still in the span.
 *
 * Up to `exactLimit` the list is exact. Above it, what falls into one 64th of the span shares one entry, dated to
 * that part's end: it is counted for up to a 64th of the span too long, so never too much is admitted.
 *
 * Times are milliseconds of a clock that does not step; one that goes backwards stands still here.
 */
export class SlidingWindow {
  readonly span: number;
  readonly #times: number[] = [];
  /** How many each entry stands for; null while each stands for one. */
  #counts: number[] | null = null;
  /** Where the list begins; what is before it has left the span. */
  #head = 0;
  #total = 0;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(span: number) {
    this.span = span;
  }

  /** Milliseconds until one more is within the limit; 0 when it is now. */
  wait(limit: number, time: number): number {
    const now = this.#advance(time);
    if (limit <= 0) return this.span;
    let tooMany = this.#total - limit + 1;
    if (tooMany <= 0) return 0;
    let at = this.#head;
    if (this.#counts === null) at += tooMany - 1;
    else while ((tooMany -= this.#counts[at] ?? tooMany) > 0) at += 1;
    return (this.#times[at] ?? now) + this.span - now;
  }

  add(limit: number, time: number): void {
    const now = this.#advance(time);
    if (limit > exactLimit) this.#addToPart(now);
    else this.#append(Math.max(now, this.#newest));
    this.#total += 1;
  }

  /** True when nothing is in the span any more. */
  isIdle(time: number): boolean {
    this.#advance(time);
    return this.#total === 0;
  }

  get #newest(): number {
    return this.#times.at(-1) ?? Number.NEGATIVE_INFINITY;
  }

  #addToPart(now: number): void {
    const part = this.span / windowParts;
    const end = Math.max((Math.floor(now / part) + 1) * part, this.#newest);
    this.#counts ??= this.#times.map(() => 1);
    const last = this.#times.length - 1;
    if (last >= this.#head && this.#times[last] === end) this.#counts[last]! += 1;
    else this.#append(end);
  }

  #append(time: number): void {
    this.#times.push(time);
    this.#counts?.push(1);
  }

  #advance(time: number): number {
    const now = Math.max(time, this.#latest);
    this.#latest = now;
    const times = this.#times;
    let head = this.#head;
    while (head < times.length && now - times[head]! >= this.span) {
      this.#total -= this.#counts?.[head] ?? 1;
      head += 1;
    }
    if (head > 16 && head * 2 > times.length) {
      times.splice(0, head);
      this.#counts?.splice(0, head);
      head = 0;
    }
    this.#head = head;
    return now;
  }
}
