import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { openTestDatabase } from '../database/databases.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('disk-full.program.ts', import.meta.url));

interface Seen {
  readonly refusal: string | null;
  readonly usableWhileFull: boolean;
  readonly refusalAfter: string | null;
  readonly depth: number;
  readonly acknowledged: readonly string[];
}

it.skipIf(process.platform !== 'linux')(
  'refuses while the disk is full, recovers by itself, and loses no acknowledged record',
  async () => {
    const { database, url, close } = await openTestDatabase('sqlite');
    const dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
    const { stdout } = await run(process.execPath, [program, dataDir, url]);
    const seen = JSON.parse(stdout) as Seen;
    expect(seen).toMatchObject({
      refusal: expect.stringContaining('temporarily unavailable'),
      usableWhileFull: false,
      refusalAfter: null,
      depth: 0,
    });
    const rows = await database.kysely.selectFrom('usage').select('id').execute();
    const ids = new Set(rows.map((row) => row.id));
    expect(seen.acknowledged.filter((id) => !ids.has(id))).toEqual([]);
    expect(seen.acknowledged.length).toBeGreaterThan(40);
    await close();
    rmSync(dataDir, { recursive: true });
  },
);
