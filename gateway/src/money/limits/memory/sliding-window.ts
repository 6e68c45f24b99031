/** Up to this limit every admission is remembered separately; above it, only the part of the window it fell into. */
export const exactLimit = 2_048;
/** The number of parts of a window that is counted by parts. */
export const windowParts = 64;

/**
 * The admissions of the last `span` milliseconds, as a list of times within the span.
 *
 * Up to `exactLimit` the list is exact. Above it, the admissions of one 64th of the span share an entry dated to the
 * end of that part. They count for up to a 64th of the span too long, so the window never admits too much.
 *
 * Times are milliseconds of a monotonic clock; a time before the last one counts as the last one.
 */
export class SlidingWindow {
  readonly span: number;
  readonly #times: number[] = [];
  /** The number of admissions per entry; null while each entry stands for one. */
  #counts: number[] | null = null;
  /** The start of the list; earlier entries have left the span. */
  #head = 0;
  #total = 0;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(span: number) {
    this.span = span;
  }

  /** Milliseconds until one more admission is within the limit; 0 if it is now. */
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

  /** Whether no admission is left in the span. */
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
