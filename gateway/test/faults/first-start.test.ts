import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

const loops = Number(process.env['SLUICE_FAULT_LOOPS'] ?? 1);

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-first-start-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'sluice.yaml'), 'server: { port: 0 }\n');
  return folder;
}

function start(folder: string, parameters: readonly string[] = []): GatewayProcess {
  const gateway = startGatewayProcess({ folder, parameters });
  onTestFinished(async () => {
    gateway.child.kill('SIGKILL');
    await gateway.exit;
  });
  return gateway;
}

async function kill(gateway: GatewayProcess): Promise<void> {
  gateway.child.kill('SIGKILL');
  await gateway.exit;
}

/** The rows are there, and nothing has been shown. */
async function keyIsMade(folder: string): Promise<void> {
  const file = join(folder, 'data/sluice.db');
  for (;;) {
    await wait(5);
    if (!existsSync(file)) continue;
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      if (database.prepare('select 1 from keys').get() !== undefined) return;
    } catch {
      // No such table yet, or the file is being made.
    } finally {
      database.close();
    }
  }
}

/** From the last complete lines, which scripts read. */
const shownIn = (text: string) => ({
  key: /^key: (sk-\S+)\n/m.exec(text)?.[1],
  admin: /^admin: admin@localhost (\S+)\n/m.exec(text)?.[1],
});

async function isGood(url: string, key: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${url}/v1/models`, { headers })).status === 200;
}

describe('a killed first start', () => {
  test.each([
    ['once its key is made', keyIsMade],
    ...Array.from({ length: loops }, (_, index) => {
      // From the making of the data folder to some time after the greeting.
      const delay = Math.round(random() * 1_500);
      const moment = async (folder: string) => {
        while (!existsSync(join(folder, 'data'))) await wait(5);
        await wait(delay);
      };
      return [`${index + 1}: ${delay} ms after its folder`, moment] as const;
    }),
  ] as const)(
    '%s shows a working password and key the next time, if it had shown none',
    async (_, moment) => {
      const folder = makeFolder();
      const first = start(folder);
      await moment(folder);
      await kill(first);
      const shown = shownIn(first.stdout());
      const second = start(folder);
      const url = await second.url;
      const again = shownIn(second.stdout());
      const key = again.key ?? shown.key;
      expect([key, again.admin ?? shown.admin]).toEqual([expect.any(String), expect.any(String)]);
      expect(await isGood(url, key ?? '')).toBe(true);
      await kill(second);
      const third = start(folder);
      await third.url;
      expect(shownIn(third.stdout())).toEqual({ key: undefined, admin: undefined });
      expect(await isGood(await third.url, key ?? '')).toBe(true);
    },
    90_000,
  );
});

describe('--secrets-file', () => {
  const parameters = ['--secrets-file', 'secrets.txt'];

  test(
    'contains password and key, for its owner only, and stdout has its path instead',
    { timeout: 90_000 },
    async () => {
      const folder = makeFolder();
      const gateway = start(folder, parameters);
      const url = await gateway.url;
      const file = join(folder, 'secrets.txt');
      const text = readFileSync(file, 'utf8');
      expect(text).toMatch(/^admin: admin@localhost \S+\nkey: sk-\S+\n$/);
      expect(lstatSync(file).mode & 0o777).toBe(0o600);
      const { key = '', admin = '' } = shownIn(text);
      expect(await isGood(url, key)).toBe(true);
      expect(gateway.stdout()).toMatch(
        /\nconsole: \S+\nupstream: .+\nsecrets: \S+\/secrets\.txt\n$/,
      );
      for (const output of [gateway.stdout(), gateway.stderr()]) {
        expect(output).not.toContain(key);
        expect(output).not.toContain(admin);
      }
      await kill(gateway);
      // Nothing to be shown: whatever is there by now stays as it is.
      const second = start(folder, parameters);
      await second.url;
      expect(second.stdout()).not.toContain('secrets');
      expect(readFileSync(file, 'utf8')).toBe(text);
    },
  );

  test.each([
    ['a file', (folder: string) => writeFileSync(join(folder, 'secrets.txt'), 'mine')],
    [
      'a link',
      (folder: string) => symlinkSync(join(folder, 'elsewhere'), join(folder, 'secrets.txt')),
    ],
  ])(
    'is never written where there is %s; nothing is created, so that the next start shows the secrets',
    async (_, plant) => {
      const folder = makeFolder();
      plant(folder);
      const refused = start(folder, parameters);
      expect(await refused.exit).toBe(1);
      expect(refused.stderr()).toMatch(
        /^sluice: --secrets-file: \S+secrets\.txt exists already; /m,
      );
      expect(existsSync(join(folder, 'elsewhere'))).toBe(false);
      rmSync(join(folder, 'secrets.txt'));
      const next = start(folder, parameters);
      await next.url;
      expect(shownIn(readFileSync(join(folder, 'secrets.txt'), 'utf8')).key).toBeDefined();
    },
    90_000,
  );

  test(
    'is rewritten by the start after one that was killed before it reported the file',
    { timeout: 90_000 },
    async () => {
      const folder = makeFolder();
      const first = start(folder, parameters);
      await keyIsMade(folder);
      await kill(first);
      const second = start(folder, parameters);
      const url = await second.url;
      const { key = '' } = shownIn(readFileSync(join(folder, 'secrets.txt'), 'utf8'));
      expect(await isGood(url, key)).toBe(true);
    },
  );
});
