import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase, type OpenDatabase } from '#database/index.ts';
import { isSkipped, openTestDatabase } from './databases.ts';

/** PostgreSQL behind a way that can be frozen: connections stay open and nothing moves. */
describe.skipIf(isSkipped('postgres'))('slow PostgreSQL', () => {
  let opened: Awaited<ReturnType<typeof openTestDatabase>>;
  let database: OpenDatabase;
  let proxy: Server;
  /** The address by way of the proxy. */
  let through: string;
  let frozen = false;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    opened = await openTestDatabase('postgres');
    const target = new URL(opened.url);
    const port = Number(target.port === '' ? 5432 : target.port);
    proxy = createServer((client) => {
      const server = connect(port, target.hostname);
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        sockets.add(from);
        from.on('error', () => {});
        from.on('close', () => to.destroy());
        from.on('data', (bytes) => {
          if (!frozen) to.write(bytes);
        });
      }
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    target.port = String((proxy.address() as AddressInfo).port);
    target.hostname = '127.0.0.1';
    through = target.href;
    database = openDatabase({ url: through });
  });
  afterAll(async () => {
    await database.close();
    for (const socket of sockets) socket.destroy();
    proxy.close();
    await opened.close();
  });

  const ask = () => sql`select 1`.execute(database.kysely);

  it('cancels a statement after a second', async () => {
    await expect(sql`select pg_sleep(30)`.execute(database.kysely)).rejects.toThrow(
      'statement timeout',
    );
    await ask();
  });

  it('gives up a frozen server, and works again once it responds', async () => {
    await Promise.all([ask(), ask(), ask(), ask()]);
    frozen = true;
    const outcomes = await Promise.allSettled([ask(), ask(), ask(), ask(), ask(), ask()]);
    expect(outcomes.map(({ status }) => status)).not.toContain('fulfilled');
    frozen = false;
    await ask();
  });

  it('does not reuse a connection that a query has just given up', async () => {
    const single = openDatabase({ url: through, maxConnections: 1 });
    onTestFinished(() => single.close());
    const askSingle = () => sql`select 1`.execute(single.kysely);
    await askSingle();
    frozen = true;
    const thawed = askSingle().catch(() => {
      frozen = false;
      return askSingle();
    });
    expect((await thawed).rows).toHaveLength(1);
  });
});
