import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import { startGatewayPlace } from '../support/gateway-place.ts';
import { secret } from '../workers/workplace.ts';
import { runClients } from './load.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

const minutes = 5;
const minuteMs = 60_000;

interface Sample {
  /** Bytes. */
  readonly memory: number;
  readonly files: number;
  readonly upstream: number;
}

const mean = (samples: readonly Sample[], part: keyof Sample): number =>
  samples.reduce((sum, sample) => sum + sample[part], 0) / samples.length;

// Where memory can be read.
test.skipIf(process.platform !== 'linux')(
  `R-42 ${minutes} minutes of mixed load with faults: memory, files and sockets stay constant, and only broken requests fail`,
  { timeout: (minutes + 2) * minuteMs },
  async () => {
    const { gateway, url, databaseUrl, simulator } = await startGatewayPlace();
    const sample = (): Sample => {
      const status = readFileSync(`/proc/${gateway.child.pid}/status`, 'latin1');
      return {
        memory: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024,
        files: readdirSync(`/proc/${gateway.child.pid}/fd`).length,
        upstream: simulator.connections(),
      };
    };

    let wanted = true;
    const common = {
      url,
      key: secret,
      random,
      onCompleted: () => {},
      wanted: () => wanted,
    };
    const healthy = runClients({ ...common, faults: ['', 'gap=3', 'gap=25', 'delay=60'] }, 8);
    const broken = runClients(
      { ...common, faults: ['status=500', 'cut-at=4', 'error-at=3', 'stall-at=2;stall-ms=500'] },
      4,
    );
    const samples: Sample[][] = [];
    for (let minute = 0; minute < minutes; minute += 1) {
      const taken: Sample[] = [];
      for (const end = performance.now() + minuteMs; performance.now() < end; await wait(250)) {
        taken.push(sample());
      }
      samples.push(taken);
      // The simulator remembers every request.
      simulator.clear();
    }
    wanted = false;
    const seen = await healthy;
    const others = await broken;

    expect(seen.filter(({ completed, left }) => !completed && !left)).toEqual([]);
    expect(seen.length).toBeGreaterThan(minutes * 1_000);
    expect(others.some(({ completed }) => !completed)).toBe(true);
    const second = samples[1] as Sample[];
    const last = samples.at(-1) as Sample[];
    const growth = {
      memory: mean(last, 'memory') / mean(second, 'memory'),
      files: mean(last, 'files') - mean(second, 'files'),
      upstream: mean(last, 'upstream') - mean(second, 'upstream'),
    };
    console.log('R-42', JSON.stringify({ requests: seen.length + others.length, growth }));
    expect(growth.memory).toBeLessThan(1.1);
    expect(growth.files).toBeLessThan(5);
    expect(growth.upstream).toBeLessThan(5);

    gateway.child.kill('SIGINT');
    expect(await gateway.exit).toBe(0);
    expect(simulator.connections()).toBe(0);
    expect(gateway.stderr()).not.toMatch(/"level":(50|60)/);
    const database = openDatabase({ url: databaseUrl });
    onTestFinished(() => database.close());
    const ids = await database.kysely.selectFrom('usage').select('id').execute();
    expect(ids.length).toBe(seen.length + others.length);
    const differences: Difference[] = [];
    await reconcile(database, {}, (difference) => void differences.push(difference));
    expect(differences).toEqual([]);
  },
);
