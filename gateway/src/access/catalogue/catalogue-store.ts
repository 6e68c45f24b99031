import type { OpenDatabase, RevisionWatch, Secrets } from '#database/index.ts';
import { buildSnapshot, type CatalogueProblem, type CatalogueRows } from './build-snapshot.ts';
import {
  catalogueRevision,
  listAliases,
  listChannels,
  listGroups,
  listModels,
} from './catalogue.repository.ts';
import type { PriceVersion } from './prices.ts';
import { appendPriceVersions } from './price-versions.repository.ts';
import type { CatalogueSnapshot } from './snapshot.ts';

export interface CatalogueStoreOptions {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  /** Reports changed rows. */
  readonly watch: RevisionWatch;
  /** The address of the simulator child process; null if there is none. */
  readonly simulatorUrl: () => string | null;
  /** Receives invalid prices; alerts the operator. */
  readonly onProblem?: (problem: CatalogueProblem) => void;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

export interface CatalogueStore {
  /** The snapshot in force. Contains only the bundled list until `load`. Free to call. */
  snapshot(): CatalogueSnapshot;
  /** @throws if the database is unreachable, or the master key cannot decrypt a credential. */
  load(): Promise<void>;
  /** Loads changes, including the simulator's address. @throws like `load`; the last snapshot stays. */
  refresh(): Promise<void>;
}

const nothing: CatalogueRows = { groups: [], channels: [], models: [], aliases: [] };

/** Holds the newest snapshot. A change builds a new one beside it and swaps it in; nothing waits for that. */
export function createCatalogueStore(options: CatalogueStoreOptions): CatalogueStore {
  const { database, secrets, watch, simulatorUrl, onProblem = () => {}, now = Date.now } = options;
  const keptPrices = new Set<string>();
  let rows = nothing;
  /** The newest revision among the rows; null before the first load. */
  let seenRevision: number | null = null;
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
      previous: seenRevision === null ? null : current,
      onProblem,
    });
  }

  function use(next: CatalogueSnapshot, address: string | null): void {
    current = next;
    url = address;
  }

  /** Stored before anything is charged by it: a receipt names only prices that can be found again. */
  async function keepPrices(snapshot: CatalogueSnapshot): Promise<void> {
    const fresh = priceVersions(snapshot).filter(({ id }) => !keptPrices.has(id));
    await appendPriceVersions(database.kysely, fresh, now());
    for (const { id } of fresh) keptPrices.add(id);
  }

  async function read(): Promise<void> {
    const { kysely } = database;
    // Read before the rows, so that a concurrent change is read twice rather than missed.
    const newest = await catalogueRevision(kysely);
    if (newest === seenRevision) return;
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
    seenRevision = newest;
    use(next, address);
  }

  watch.subscribe(async () => {
    if (seenRevision === null) return false;
    await read();
    return true;
  });

  return {
    snapshot: () => current,
    load: read,
    async refresh() {
      if (seenRevision === null) await read();
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
