import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { openDatabase, type OpenDatabase } from '#database/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import { synthesis, type Dialect } from '../behaviour/video-requests.ts';
import { createTestDatabase, type Dialect as DatabaseDialect } from '../database/databases.ts';
import { testKey } from '../support/gateway.ts';
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { startVideoUpstream, videoConfig, type VideoUpstream } from '../support/video-upstream.ts';

/** A gateway for videos that is killed, cut off from its database, and started again on the same folder. */
export interface VideoPlace {
  readonly upstream: VideoUpstream;
  /** Past the proxy. */
  readonly database: OpenDatabase;
  /** Between the gateway and PostgreSQL; null: SQLite has none. */
  readonly proxy: TcpProxy | null;
  readonly url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops it in order; then nothing is held, and the books are exact. */
  finish(): Promise<void>;
}

/** Closed with the test. @param redisUrl where rates are counted; absent: in memory */
export async function startVideoPlace(
  kind: DatabaseDialect,
  redisUrl?: string,
): Promise<VideoPlace> {
  const upstream = await startVideoUpstream();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-videos-'));
  const made = kind === 'sqlite' ? null : await createTestDatabase(kind);
  const databaseUrl = made?.url ?? `sqlite:${folder}/videos.db`;
  const { proxy, url: usedUrl } = await wayTo(databaseUrl);
  const accounts = `
users: [{ email: tester@example.com, balance: 1000 }, { email: administrator@example.com, role: admin }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey}, rpm: 1000 }]
`;
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `
server: { port: 0, drain_timeout: 2s }
storage: { url: "${usedUrl}", data_dir: ./data }
${redisUrl === undefined ? '' : `redis: { url: "${redisUrl}" }`}
${videoConfig(upstream.url, accounts)}`,
  );
  let gateway: GatewayProcess = startGatewayProcess({ folder });
  let url = await gateway.url;
  const database = openDatabase({ url: databaseUrl });
  onTestFinished(async () => {
    gateway.child.kill('SIGKILL');
    await gateway.exit;
    await database.close();
    await made?.drop();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    upstream,
    database,
    proxy,
    get url() {
      return url;
    },
    async kill() {
      gateway.child.kill('SIGKILL');
      await gateway.exit;
    },
    async start() {
      gateway = startGatewayProcess({ folder });
      url = await gateway.url;
    },
    async finish() {
      gateway.child.kill('SIGINT');
      expect(await gateway.exit).toBe(0);
      const totals = await database.kysely.selectFrom('spent_totals').select('held').execute();
      expect(totals.filter(({ held }) => held !== 0n)).toEqual([]);
      const differences: Difference[] = [];
      await reconcile(database, {}, (difference) => void differences.push(difference));
      expect(differences).toEqual([]);
    },
  };
}

async function wayTo(databaseUrl: string): Promise<{ proxy: TcpProxy | null; url: string }> {
  if (databaseUrl.startsWith('sqlite:')) return { proxy: null, url: databaseUrl };
  const target = new URL(databaseUrl);
  const proxy = await startTcpProxy(target.hostname, Number(target.port || 5432));
  target.hostname = '127.0.0.1';
  target.port = String(proxy.port);
  return { proxy, url: target.href };
}

export function rowsOf({
  database,
}: Pick<VideoPlace, 'database'>): Promise<{ id: string; outcome: string; cost: bigint | null }[]> {
  return database.kysely.selectFrom('usage').select(['id', 'outcome', 'cost']).execute();
}

/** What the upstream reports of five seconds, and what they cost in nano-USD. */
export const usageOf = (dialect: Dialect): number => (dialect === synthesis ? 5 : 100_000);
export const costOf = (dialect: Dialect): bigint =>
  dialect === synthesis ? 500_000_000n : 700_000_000n;
