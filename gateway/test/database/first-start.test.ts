import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findUserByEmail, listKeys, listUsers } from '#identity/index.ts';
import { parseConfig } from '#config/index.ts';
import { openDatabase } from '#database/index.ts';
import { prepareDatabase } from '#startup/index.ts';
import { createTestDatabase, isSkipped, testSecrets } from './databases.ts';

it.skipIf(isSkipped('postgres'))(
  'six nodes in their first start together create one administrator and one key',
  async () => {
    const { url, drop } = await createTestDatabase('postgres');
    onTestFinished(drop);
    const folders = Array.from({ length: 6 }, () => mkdtempSync(join(tmpdir(), 'sluice-first-')));
    onTestFinished(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));
    const configOf = (folder: string) =>
      parseConfig(`storage: { url: ${JSON.stringify(url)}, data_dir: ${folder} }`, {
        file: 'test.yaml',
        environment: {},
        bundledModels: [],
      });
    const starts = await Promise.all(
      folders.map((folder) =>
        prepareDatabase(configOf(folder), testSecrets, { node: folder, log: { warn: () => {} } }),
      ),
    );
    expect(starts.filter(({ admin }) => admin !== null)).toHaveLength(1);
    expect(starts.filter(({ key }) => key !== null)).toHaveLength(1);
    const database = openDatabase({ url });
    expect(await listUsers(database.kysely)).toHaveLength(1);
    expect(await findUserByEmail(database.kysely, 'admin@localhost')).not.toBeNull();
    expect(await listKeys(database.kysely)).toHaveLength(1);
    await database.close();
  },
  60_000,
);
