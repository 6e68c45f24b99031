import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dialects, createMigratedDatabase, isSkipped } from '../database/databases.ts';
import { countRows } from '../database/table-rows.ts';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';
import { inTurn } from '../support/runs.ts';
import { sqlPayloads } from '../support/sql-payloads.ts';
import { textProtocols } from './text-protocols.ts';

/* S-05: whatever a client writes where a key, a model or a parameter belongs, it is a clear refusal and nothing else. */

const keyHeaders = ['authorization', 'x-api-key', 'x-goog-api-key', 'x-vendorc-api-key'];
/** Headers are Latin-1. */
const inHeaders = sqlPayloads.filter((text) => !/[^\x20-\xff]/.test(text));
/** Statements come with four ways out of a text each: every way has its turn with every header and protocol. */
const turnOf = (text: string): number => {
  const at = sqlPayloads.indexOf(text);
  return at + Math.floor(at / 4);
};

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('S-05 SQL in what clients send', () => {
    let gateway: TestGateway;
    let drop: () => Promise<void>;
    let tables: Readonly<Record<string, number>>;
    beforeAll(async () => {
      const database = await createMigratedDatabase(dialect);
      ({ drop } = database);
      gateway = await startTestGateway({ databaseUrl: database.url });
      tables = await countRows(gateway.app.database);
    });
    afterAll(async () => {
      await gateway.close();
      await drop();
      if (gateway.errors.length > 0) throw new Error('an error was logged');
    });

    /** Apart from the rows of what was asked, and their sums. */
    const withoutUsage = (counts: Readonly<Record<string, number>>) =>
      Object.fromEntries(
        Object.entries(counts).filter(([name]) => !/^(usage|latency)(_|$)/.test(name)),
      );
    const others = async () => {
      await gateway.usage();
      return withoutUsage(await countRows(gateway.app.database));
    };
    const untouched = () => withoutUsage(tables);

    test('as a key, in every header', async () => {
      for (const text of inHeaders) {
        for (const name of inTurn(turnOf(text), keyHeaders)) {
          // A value with spaces is not a key and is refused before the database is queried.
          const value = `sk-${name === 'x-api-key' ? text : text.replaceAll(' ', '/**/')}`;
          const shown = name === 'authorization' ? `Bearer ${value}` : value;
          const response = await fetch(`${gateway.url}/v1/models`, { headers: { [name]: shown } });
          expect([name, value, response.status]).toEqual([name, value, 401]);
          expect(await response.text()).toContain('"invalid api key"');
        }
      }
      expect(await countRows(gateway.app.database)).toEqual(tables);
    }, 60_000);

    test('as a key in the query', async () => {
      for (const text of sqlPayloads) {
        const query = `?key=${encodeURIComponent(`sk-${text}`)}`;
        const response = await fetch(`${gateway.url}/v1beta/models${query}`);
        expect([text, response.status]).toEqual([text, 401]);
        await response.text();
      }
      expect(await countRows(gateway.app.database)).toEqual(tables);
    }, 60_000);

    test.each(textProtocols)(
      'as a model of $name',
      async (protocol) => {
        const ids: string[] = [];
        const models = sqlPayloads.filter((text) =>
          inTurn(turnOf(text), textProtocols).includes(protocol),
        );
        expect(models.length).toBeGreaterThan(40);
        for (const text of models) {
          const body = protocol.body(text, false);
          const response = await gateway.post(protocol.path(text, false), body, {
            'user-agent': inHeaders.includes(text) ? text : 'x',
            'x-session-id': inHeaders.includes(text) ? text : 'x',
          });
          const message = protocol.errorMessage(await response.json());
          expect([response.status, message]).toEqual([
            400,
            `model '${text}' is not available, please use a different model`,
          ]);
          ids.push(response.headers.get('x-request-id') ?? '');
        }
        const rows = new Map((await gateway.usage()).map((row) => [row.id, row]));
        expect(ids.map((id) => rows.get(id)?.model)).toEqual(models);
        expect(await others()).toEqual(untouched());
      },
      60_000,
    );

    test('as a parameter and as the name of a model that is looked up', async () => {
      const parameters = ['from', 'to', 'group_by', 'limit', 'after_id', 'before_id', 'pageToken'];
      for (const [at, text] of sqlPayloads.entries()) {
        const written = encodeURIComponent(text);
        const query = parameters.map((name) => `${name}=${written}`).join('&');
        const asked: readonly (readonly [path: string, statuses: readonly number[]])[] = [
          [`/v1/usage?${query}`, [400]],
          [`/v1/usage?group_by=${written}`, [400]],
          [`/v1/usage?user=${written}&key_id=${written}`, [200]],
          [`/v1/models?after_id=${written}&limit=1`, [200, 400]],
          [`/v1beta/models?pageToken=${written}&pageSize=${written}`, [200, 400]],
          [`/v1/models/${written}`, [404]],
          [`/v1beta/models/${written}`, [404]],
        ];
        // A key may ask for lists 600 times a minute.
        for (const [path, statuses] of asked.filter((_, place) => (place + at) % 7 < 3)) {
          const response = await fetch(gateway.url + path, { headers: { 'x-api-key': testKey } });
          expect([path, response.status]).toEqual([path, expect.toBeOneOf([...statuses])]);
          await response.text();
        }
      }
      expect(await others()).toEqual(untouched());
    }, 60_000);
  });
});
