import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { postgresUrls } from '#config/index.ts';
import { isStorageUrl } from '#config/network.ts';
import { connectDatabase } from '#database/index.ts';
import { freePort } from '../support/free-port.ts';
import { createTestDatabase, isSkipped } from './databases.ts';

it.each([
  ['postgres://u:p@a:1,b/db?x=1', ['postgres://u:p@a:1/db?x=1', 'postgres://u:p@b/db?x=1']],
  ['postgresql://a,[::1]:2', ['postgresql://a', 'postgresql://[::1]:2']],
  ['postgres://u:p,q@a/db', ['postgres://u:p,q@a/db']],
  ['postgres:///db?host=/run/a,b', ['postgres:///db?host=/run/a,b']],
])('the hosts of %s', (url, urls) => {
  expect(postgresUrls(url)).toEqual(urls);
  expect(isStorageUrl(url)).toBe(true);
});

it('a bad port of a later host is a mistake', () => {
  expect(isStorageUrl('postgres://a:1,b:x/db')).toBe(false);
});

describe.skipIf(isSkipped('postgres'))('several hosts', () => {
  /** The test server behind a host that nothing listens on. */
  async function opened(more = '') {
    const { url, drop } = await createTestDatabase('postgres');
    const { host, pathname } = new URL(url);
    const closed = `127.0.0.1:${await freePort()}`;
    const credentials = url.slice(0, url.indexOf(host));
    const together = `${credentials}${closed},${host}${pathname}${more}`;
    return { together, closed, host, pathname: pathname.slice(1), url, drop };
  }

  it('one that nothing listens on is passed over', async () => {
    const { together, drop } = await opened();
    const database = await connectDatabase({ url: together });
    const listening = database.listen?.(['sluice_changes'], () => {});
    // Connects to the closed one first, and a second later to the other.
    await vi.waitFor(() => expect(listening?.works).toBe(true), 10_000);
    listening?.close();
    await database.close();
    await drop();
  });

  it('one that takes no writes is passed over if the URL says so', async () => {
    const { together, closed, host, pathname, url, drop } = await opened(
      '?target_session_attrs=read-write',
    );
    const plain = await connectDatabase({ url });
    const readOnly = (value: 'on' | 'off') =>
      sql`alter database ${sql.id(pathname)} set default_transaction_read_only = ${sql.raw(value)}`.execute(
        plain.kysely,
      );
    await readOnly('on');
    const refused = connectDatabase({ url: together });
    await expect(refused).rejects.toThrow(`the database at ${closed}, ${host} cannot be used: `);
    const withoutWish = together.replace(/\?.*/, '');
    await (await connectDatabase({ url: withoutWish })).close();
    await sql`set default_transaction_read_only = off`.execute(plain.kysely);
    await readOnly('off');
    await (await connectDatabase({ url: together })).close();
    await plain.close();
    await drop();
  });
});
