import { createKeyDirectory, type KeyDirectory } from '#identity/index.ts';
import {
  createCatalogueStore,
  type CatalogueProblem,
  type CatalogueStore,
} from '#catalogue/index.ts';
import { createRevisionWatch, type RevisionWatch, type Secrets } from '#database/index.ts';
import type { Logger } from '#observability/index.ts';
import type { Closing } from './closing.ts';
import { loadInBackground } from './load-in-background.ts';
import { createSimulatorSlot } from './simulator-slot.ts';
import type { Storage } from './storage.ts';

/** Catalogue and keys in memory, kept current with the database. */
export interface Directory {
  readonly revisions: RevisionWatch;
  readonly catalogue: CatalogueStore;
  readonly keys: KeyDirectory;
  /** The address of the simulator that runs here; null: none does. */
  readonly simulatorUrl: () => string | null;
  /** Picks up database changes now. */
  refresh(): Promise<void>;
}

/**
 * Loads the catalogue and starts to load the keys.
 * @param dataDir shared by all processes of the gateway
 */
export async function openDirectory(
  { database, breaker }: Pick<Storage, 'database' | 'breaker'>,
  secrets: Secrets,
  logger: Logger,
  dataDir: string,
  closing: Closing,
): Promise<Directory> {
  const revisions = closing.add(createRevisionWatch({ database }));
  const simulator = closing.add(createSimulatorSlot(database, secrets, logger, dataDir));
  await simulator.startIfWanted();
  const catalogue = createCatalogueStore({
    database,
    secrets,
    watch: revisions,
    simulatorUrl: simulator.url,
    onProblem: (problem) => alarm(logger, problem),
  });
  simulator.onChange = () => void catalogue.refresh().catch(() => {});
  await catalogue.load();
  const keys = createKeyDirectory({ database, breaker, secrets, watch: revisions });
  // Not awaited: until all keys are in memory, each key is looked up on demand.
  closing.add(loadInBackground(() => keys.load(), 'keys', logger));
  return {
    revisions,
    catalogue,
    keys,
    simulatorUrl: simulator.url,
    async refresh() {
      await simulator.startIfWanted();
      await catalogue.refresh();
    },
  };
}

/** Logs an invalid stored price: the model keeps its last valid one, or its requests are refused. */
function alarm(logger: Logger, { kind, name, lastGood }: CatalogueProblem): void {
  const what = kind === 'price' ? `the price of model '${name}'` : `the multiplier of '${name}'`;
  const then = lastGood ? 'the last valid one stays in force' : 'requests that need it are refused';
  logger.error('invalid stored price', new Error(`${what} cannot be read: ${then}`), {
    component: 'catalogue',
  });
}
