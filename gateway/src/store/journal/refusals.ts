import type { ExchangeRecord } from '#usage/index.ts';
import type { Journal } from './journal.ts';

const usualRows = 60;
const usualRefusals = 600;
/**
 * Groups remembered within a minute. Beyond this number refusals keep their own rows, and further keys need not wait.
 */
const mostGroups = 5_000;
const mostKeys = 20_000;
const minute = 60_000;

/** Responses of a model per minute and key that could not be charged: the operator has paid for them. */
const mostUnpaid = 10;
/** Results of attempts that were withheld because the price does not fit what the upstream made. */
const unpaidResults: ReadonlySet<string> = new Set([
  'size-missing',
  'size-above-tiers',
  'usage-missing',
]);

export interface RefusalsOptions {
  readonly journal: Pick<Journal, 'append' | 'begin' | 'usable'>;
  /** Hears of each record that is durable; nobody waits for it. Absent: nobody does. */
  readonly onDurable?: (record: ExchangeRecord) => void;
  /** The id of the model that a name or an alias means; null: none. All such names count as one, so that nobody can invent new groups. */
  readonly modelIdOf: (name: string) => string | null;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Rows per minute of one key, reason and model; further refusals are counted in one more row. Default: 60. */
  readonly mostRows?: number;
  /** Refusals per minute after which a key must wait for the next one. Default: 600. */
  readonly mostRefusals?: number;
}

/** The journal as the relay uses it. */
export interface CondensedJournal extends Pick<Journal, 'append' | 'begin' | 'usable'> {
  /**
   * Counts a refusal that came before its request was read. They never have rows of their own: one row for those of a
   * minute with the same key and error. Beyond the bound of groups they leave none.
   */
  note(record: ExchangeRecord): void;
  /** Whole seconds until requests of the key are read again; null: now. */
  closedFor(keyId: string): number | null;
  /**
   * Whole seconds until the key's requests for this model are served again, since too many of its responses could not be
   * charged; null: now.
   */
  unpaidFor(keyId: string, modelId: string): number | null;
  /** Writes the counted refusals. Call it before the journal is closed. */
  close(): Promise<void>;
}

interface Group {
  refusalCount: number;
  /** The first refusal without a row of its own. */
  row: ExchangeRecord | null;
  /** The number of refusals that `row` stands for. */
  count: number;
}

/**
 * Passes everything to the journal except the many identical refusals of a client that retries in a loop: they cost the
 * client nothing, but each would take room on the disk. Minutes are local to the process and begin with a refusal.
 */
export function condenseRefusals(options: RefusalsOptions): CondensedJournal {
  const { journal, modelIdOf, now, onDurable } = options;
  const { mostRows = usualRows, mostRefusals = usualRefusals } = options;
  let groups = new Map<string, Group>();
  /** By key. */
  let refusals = new Map<string, number>();
  /** By key and model. */
  let unpaid = new Map<string, number>();
  let endsAt = -Infinity;
  let timer: NodeJS.Timeout | null = null;

  function store(record: ExchangeRecord): Promise<void> {
    const stored = journal.append(record);
    if (onDurable !== undefined) {
      stored.then(
        () => onDurable(record),
        () => {},
      );
    }
    return stored;
  }

  function append(record: ExchangeRecord): Promise<void> {
    const { outcome, attempts } = record;
    const isUnpaid =
      outcome === 'failed' && attempts.some(({ result }) => unpaidResults.has(result));
    if (outcome !== 'refused' && !isUnpaid) return store(record);
    if (now() >= endsAt) begin();
    if (isUnpaid) {
      countUp(unpaid, unpaidName(record.keyId, modelIdOf(record.model) ?? ''));
      return store(record);
    }
    // A failure of the gateway is not the key's fault.
    if (record.status < 500) countUp(refusals, record.keyId);
    const group = groupOf(nameOf(record));
    if (group === null) return store(record);
    group.refusalCount += 1;
    if (group.refusalCount <= mostRows) return store(record);
    share(group, record);
    return Promise.resolve();
  }

  function share(group: Group, record: ExchangeRecord): void {
    group.row ??= record;
    group.count += 1;
  }

  function note(record: ExchangeRecord): void {
    if (now() >= endsAt) begin();
    const group = groupOf(`${record.keyId}\n${record.error}`);
    if (group !== null) share(group, record);
  }

  function countUp(counts: Map<string, number>, name: string): void {
    const before = counts.get(name);
    if (before !== undefined || counts.size < mostKeys) counts.set(name, (before ?? 0) + 1);
  }

  /** Null: no more than that many were counted in this minute. */
  function secondsLeft(count: number | undefined, most: number): number | null {
    if (count === undefined || count <= most) return null;
    const remainingMs = endsAt - now();
    return remainingMs <= 0 ? null : Math.ceil(remainingMs / 1_000);
  }

  const nameOf = ({ keyId, error, model }: ExchangeRecord): string =>
    `${keyId}\n${error}\n${modelIdOf(model) === null ? '' : model}`;

  /** Null if there are too many. */
  function groupOf(name: string): Group | null {
    let group = groups.get(name);
    if (group !== undefined) return group;
    if (groups.size >= mostGroups) return null;
    group = { refusalCount: 0, row: null, count: 0 };
    groups.set(name, group);
    return group;
  }

  function begin(): void {
    void end();
    endsAt = now() + minute;
    timer = setTimeout(() => void end(), minute).unref();
  }

  async function end(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const countedGroups = [...groups.values()];
    groups = new Map();
    refusals = new Map();
    unpaid = new Map();
    endsAt = -Infinity;
    // The journal reports and counts what it cannot store.
    await Promise.allSettled(
      countedGroups.flatMap(({ row, count }) => (row === null ? [] : store({ ...row, count }))),
    );
  }

  return {
    append,
    note,
    begin: journal.begin,
    get usable() {
      return journal.usable;
    },
    closedFor: (keyId) => secondsLeft(refusals.get(keyId), mostRefusals),
    unpaidFor: (keyId, modelId) => secondsLeft(unpaid.get(unpaidName(keyId, modelId)), mostUnpaid),
    close: end,
  };
}

const unpaidName = (keyId: string, modelId: string): string => `${keyId}\n${modelId}`;
