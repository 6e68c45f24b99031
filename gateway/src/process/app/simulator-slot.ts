import { listChannels } from '#catalogue/index.ts';
import type { OpenDatabase, Secrets } from '#database/index.ts';
import type { Logger } from '#observability/index.ts';
import { startSimulatorProcess, type SimulatorProcess } from '#startup/index.ts';
import { findFacts } from '#vendors/index.ts';

/** The demo's simulator; started at the start or after a reload if a channel needs it. */
export interface SimulatorSlot {
  /** Called when its address changes. */
  onChange: () => void;
  /** Null while it is not running. */
  readonly url: () => string | null;
  startIfWanted(): Promise<void>;
  close(): Promise<void> | void;
}

/**
 * Does nothing until `startIfWanted` finds a channel without an address.
 * @param dataDir shared by all processes of the gateway
 */
export function createSimulatorSlot(
  database: OpenDatabase,
  secrets: Secrets,
  logger: Logger,
  dataDir: string,
): SimulatorSlot {
  let running: SimulatorProcess | null = null;
  return {
    onChange: () => {},
    url: () => running?.url() ?? null,
    async startIfWanted() {
      if (running !== null) return;
      const channels = await listChannels(database.kysely, secrets);
      const isWanted = channels.some(
        ({ provider, baseUrl, enabled }) =>
          findFacts(provider)?.runsHere === true && baseUrl === null && enabled,
      );
      if (isWanted) running = await startSimulatorProcess(logger, dataDir, () => this.onChange());
    },
    close: () => running?.close(),
  };
}
