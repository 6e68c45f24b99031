import { listChannels } from '#catalogue/index.ts';
import type { OpenDatabase, Secrets } from '#database/index.ts';
import type { Logger } from '#observability/index.ts';
import { startSimulatorProcess, type SimulatorProcess } from '#startup/index.ts';

/** The demo's simulator: started when a channel needs it, at the start or after a reload. */
export interface SimulatorSlot {
  /** Called when its address has changed. */
  onChange: () => void;
  /** Null while there is none. */
  readonly url: () => string | null;
  startIfWanted(): Promise<void>;
  close(): Promise<void> | void;
}

/** Empty until `startIfWanted` finds a channel without an address of its own. */
export function createSimulatorSlot(
  database: OpenDatabase,
  secrets: Secrets,
  logger: Logger,
): SimulatorSlot {
  let running: SimulatorProcess | null = null;
  return {
    onChange: () => {},
    url: () => running?.url() ?? null,
    async startIfWanted() {
      if (running !== null) return;
      const channels = await listChannels(database.kysely, secrets);
      const wanted = channels.some(
        ({ provider, baseUrl, enabled }) => provider === 'simulator' && baseUrl === null && enabled,
      );
      if (wanted) running = await startSimulatorProcess(logger, () => this.onChange());
    },
    close: () => running?.close(),
  };
}
