import { Counter, type Registry } from 'prom-client';

/** Counts per label combination as plain numbers; they become series only at a scrape. */
export interface Tally<Label extends string> {
  /**
   * Adds to the count of `key`, which stands for one combination. `labels` is called only on the first use of the
   * key.
   * @param by 0 only makes the series. Default: 1
   */
  add(key: string, labels: () => Readonly<Record<Label, string>>, by?: number): void;
  readonly counts: Iterable<Readonly<Count<Label>>>;
}

export interface Count<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  count: number;
}

/** New combinations beyond `limit` are counted together as `overflow`. */
export function createTally<Label extends string>(
  limit: number,
  overflow: Readonly<Record<Label, string>>,
): Tally<Label> {
  const counts = new Map<string, Count<Label>>();
  const create = (key: string, labels: Readonly<Record<Label, string>>): Count<Label> => {
    const entry = { labels, count: 0 };
    counts.set(key, entry);
    return entry;
  };
  let rest: Count<Label> | null = null;

  return {
    add(key, labels, by = 1) {
      let entry = counts.get(key);
      if (entry === undefined) {
        if (counts.size < limit) entry = create(key, labels());
        else entry = rest ??= create('', overflow);
      }
      entry.count += by;
    },
    counts: { [Symbol.iterator]: () => counts.values() },
  };
}

/** The name of a tally in the metrics, and how many label combinations it may hold. */
export interface TallyOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  readonly limit: number;
}

/** A tally that is scraped as a counter. Combinations beyond the limit have the label `other`. */
export function registerTally<Label extends string>(
  registry: Registry,
  { limit, ...counter }: TallyOptions<Label>,
): Tally<Label> {
  const overflow = Object.fromEntries(counter.labelNames.map((label) => [label, 'other']));
  const tally = createTally(limit, overflow as Record<Label, string>);
  new Counter<Label>({
    ...counter,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, count } of tally.counts) this.inc(labels, count);
    },
  });
  return tally;
}
