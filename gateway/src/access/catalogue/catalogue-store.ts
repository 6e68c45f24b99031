import type { OpenDatabase, RevisionWatch, Secrets } from '#database/index.ts';
import { buildSnapshot, type CatalogueProblem, type CatalogueRows } from './build-snapshot.ts';
import {
  catalogueRevision,
  listAliases,
  listChannels,
  listGroups,
  listModels,
} from './catalogue.repository.ts';
import type { PriceVersion } from './price-version.ts';
import { appendPriceVersions } from './price-versions.repository.ts';
import type { CatalogueSnapshot } from './snapshot.ts';

export interface CatalogueStoreOptions {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  /** Tells when rows changed. */
  readonly watch: RevisionWatch;
  /** Where the simulator that runs as a child listens; null while there is none. */
  readonly simulatorUrl: () => string | null;
  /** Told of prices that are none; an alarm for the operator. */
  readonly onProblem?: (problem: CatalogueProblem) => void;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

export interface CatalogueStore {
  /** What requests use now. Only the bundled list until `load`. Costs nothing. */
  snapshot(): CatalogueSnapshot;
  /** @throws when the database is away or a credential cannot be opened with the master key. */
  load(): Promise<void>;
  /** Reads what changed, also the simulator's address. @throws as `load`; the last snapshot stays. */
  refresh(): Promise<void>;
}

const nothing: CatalogueRows = { groups: [], channels: [], models: [], aliases: [] };

/** Holds the newest snapshot. A change makes a new one aside and swaps it in; nothing ever waits for it. */
export function createCatalogueStore(options: CatalogueStoreOptions): CatalogueStore {
  const { database, secrets, watch, simulatorUrl, onProblem = () => {}, now = Date.now } = options;
  const keptPrices = new Set<string>();
  let rows = nothing;
  /** The newest revision among the rows; null before the first load. */
  let seen: number | null = null;
  let url = simulatorUrl();
  let current = buildSnapshot(rows, {
    revision: 0,
    simulatorUrl: url,
    previous: null,
    onProblem,
  });

  function build(from: CatalogueRows, address: string | null): CatalogueSnapshot {
    return buildSnapshot(from, {
      revision: current.revision + 1,
      simulatorUrl: address,
      previous: seen === null ? null : current,
      onProblem,
    });
  }

  function use(next: CatalogueSnapshot, address: string | null): void {
    current = next;
    url = address;
  }

  /** Before anything is charged by them: a receipt names only prices that can be found again. */
  async function keepPrices(snapshot: CatalogueSnapshot): Promise<void> {
    const fresh = priceVersions(snapshot).filter(({ id }) => !keptPrices.has(id));
    await appendPriceVersions(database.kysely, fresh, now());
    for (const { id } of fresh) keptPrices.add(id);
  }

  async function read(): Promise<void> {
    const { kysely } = database;
    // Asked before the rows, so that a change in between is read again rather than missed.
    const newest = await catalogueRevision(kysely);
    if (newest === seen) return;
    const newRows = {
      groups: await listGroups(kysely),
      channels: await listChannels(kysely, secrets),
      models: await listModels(kysely),
      aliases: await listAliases(kysely),
    };
    const address = simulatorUrl();
    const next = build(newRows, address);
    await keepPrices(next);
    rows = newRows;
    seen = newest;
    use(next, address);
  }

  watch.subscribe(async () => {
    if (seen === null) return false;
    await read();
    return true;
  });

  return {
    snapshot: () => current,
    load: read,
    async refresh() {
      if (seen === null) await read();
      else await watch.poll();
      const address = simulatorUrl();
      if (address !== url) use(build(rows, address), address);
    },
  };
}

function priceVersions({ models }: CatalogueSnapshot): PriceVersion[] {
  return Array.from(models.values()).flatMap(({ id: model, price, priceVersion: id }) =>
    price === null || id === null ? [] : [{ id, model, price }],
  );
}
