import path from 'node:path';
import { openDatabase } from '../gateway/src/store/database/index.ts';
import { listUsage, type UsageFilter } from '../gateway/src/store/usage/index.ts';
import type { ResultRow } from './report.ts';
import { median } from './statistics.ts';

/** Filters by their name in the table: names with many rows, and some with a few rows at the far end. */
function filters(newest: number): Readonly<Record<string, UsageFilter>> {
  const month = 30 * 86_400_000;
  return {
    'no filter': {},
    'a month': { from: newest - 6 * month, to: newest - 5 * month },
    'a key with half of it': { key: 'bench' },
    'a key': { key: 'key_4711' },
    'a user with half of it': { user: 'bench@example.com' },
    'a team': { team: 'team_7' },
    'a model': { model: 'model-7' },
    'a channel': { channel: 'channel-7' },
    'a model and a channel': { model: 'model-7', channel: 'channel-13' },
    'a model and a channel that never met, of a week': {
      model: 'model-7',
      channel: 'channel-8',
      from: newest - month / 4,
    },
    'rare names': { key: 'key_rare', user: 'usr_rare', team: 'team_rare' },
    'a rare model': { model: 'rare' },
    'a rare channel': { channel: 'rare' },
    'nothing there': { key: 'nobody', model: 'none', channel: 'none' },
  };
}

const rounds = 15;

/** How long the first page of the log takes on a database that `seedUsage` filled: the slowest of some times. */
export async function measureUsageLog(
  directory: string,
  count: number,
  progress: (text: string) => void,
): Promise<ResultRow[]> {
  const database = openDatabase({ url: `sqlite:${path.join(directory, 'sluice.db')}` });
  const [newest] = (await listUsage(database.kysely, { limit: 1 })).data;
  const rows: ResultRow[] = [];
  for (const [name, filter] of Object.entries(filters(Date.parse(newest?.time ?? '')))) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = performance.now();
      await listUsage(database.kysely, filter);
      times.push(performance.now() - before);
    }
    const worst = Math.max(...times);
    progress(`${name}: median ${median(times).toFixed(1)} ms, worst ${worst.toFixed(1)} ms`);
    rows.push({
      title: `first page of ${count} usage rows, ${name}`,
      unit: 'ms',
      values: { gateway: worst },
      bound: { atMost: 200 },
    });
  }
  await database.close();
  return rows;
}
