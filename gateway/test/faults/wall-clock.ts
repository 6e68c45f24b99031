import { mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { openDatabase, type OpenDatabase } from '#database/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import { startGatewayPlace, type GatewayPlace } from '../support/gateway-place.ts';

export interface ClockedGateway extends GatewayPlace {
  /** The gateway's own, for reading. */
  readonly database: OpenDatabase;
  /** Sets the gateway's wall clock off by this many milliseconds, in every thread. */
  stepBy(milliseconds: number): Promise<void>;
  /** Sets the wall clock to this time (Unix milliseconds); it runs on from there. */
  stepTo(time: number): Promise<void>;
  /** Ends the gateway, which must not have logged an error, and fails when its books differ anywhere. */
  close(): Promise<void>;
}

/**
 * A gateway in a process of its own, on SQLite, whose wall clock the test decides.
 *
 * @param options.config YAML of channels and accounts; `SIMULATOR` in it stands for the simulator's address
 * @param options.time what time it is there at the start, Unix milliseconds
 */
export async function startClockedGateway(options: {
  readonly config: string;
  readonly time?: number;
}): Promise<ClockedGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-clock-'));
  const offsetFile = join(folder, 'offset');
  const stepBy = async (milliseconds: number): Promise<void> => {
    // Never seen half written.
    writeFileSync(`${offsetFile}.new`, String(milliseconds));
    renameSync(`${offsetFile}.new`, offsetFile);
    await wait(100);
  };
  const stepTo = (time: number) => stepBy(time - Date.now());
  await stepTo(options.time ?? Date.now());
  const place = await startGatewayPlace({
    config: options.config,
    folder,
    environment: {
      NODE_OPTIONS: `--import ${new URL('./clock.preload.mjs', import.meta.url).href}`,
      CLOCK_OFFSET_FILE: offsetFile,
    },
  });
  const { gateway, databaseUrl } = place;
  const database = openDatabase({ url: databaseUrl });
  onTestFinished(() => database.close());
  return {
    ...place,
    database,
    stepBy,
    stepTo,
    async close() {
      gateway.child.kill('SIGINT');
      expect(await gateway.exit).toBe(0);
      expect(gateway.stderr()).not.toMatch(/"level":(50|60)/);
      const differences: Difference[] = [];
      await reconcile(database, {}, (difference) => void differences.push(difference));
      expect(differences).toEqual([]);
    },
  };
}
