import { expect, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import { listUsage, sumUsage, totalUsage } from '#usage/index.ts';
import { dialects, createTestDatabase, isSkipped } from '../database/databases.ts';
import { startTestGateway } from '../support/gateway.ts';

const refused = (name: string) => ({ model: name, messages: [{ role: 'user', content: 'hi' }] });

test.each(dialects)(
  'refusals beyond 60 a minute share one row with their number, which every sum adds (%s)',
  async (dialect) => {
    if (isSkipped(dialect)) return;
    const { url, drop } = await createTestDatabase(dialect);
    const gateway = await startTestGateway({ databaseUrl: url, refusalBounds: {} });
    const ids: string[] = [];
    for (let number = 0; number < 80; number += 1) {
      const response = await gateway.post('/v1/chat/completions', refused(`made-up-${number}`));
      expect(response.status).toBe(400);
      await response.text();
      ids.push(response.headers.get('x-request-id') ?? '');
    }
    const scraped = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(scraped).toMatch(/sluice_requests_total\{[^}]*outcome="refused"[^}]*\} 80\n/);
    await gateway.close();

    const { kysely, ...rest } = openDatabase({ url });
    try {
      const { data } = await listUsage(kysely, { limit: 1_000 });
      expect(data).toHaveLength(61);
      const counted = data.filter(({ count }) => count > 1);
      expect(counted).toMatchObject([{ id: ids[60], count: 20, outcome: 'refused', cost: null }]);
      expect(await totalUsage(kysely, {})).toEqual({ requests: 80, cost: 0n });
      expect(await sumUsage(kysely, {}, ['user'])).toMatchObject([{ requests: 80, failed: 80 }]);
      const differences: Difference[] = [];
      await reconcile({ kysely, ...rest }, {}, (each) => void differences.push(each));
      expect(differences).toEqual([]);
    } finally {
      await rest.close();
      await drop();
    }
  },
  60_000,
);

test('above 600 in a minute the key waits before its body is read, and others do not', async () => {
  const gateway = await startTestGateway({ refusalBounds: {} });
  try {
    const ask = (name: string, headers: Record<string, string> = {}) =>
      gateway.post('/v1/chat/completions', refused(name), headers);
    for (let round = 0; round < 61; round += 1) {
      const responses = await Promise.all(Array.from({ length: 10 }, () => ask('nothing')));
      for (const response of responses) await response.text();
    }
    const late = await ask('demo-chat');
    expect(late.status).toBe(429);
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(late.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    const stranger = await ask('demo-chat', { authorization: 'Bearer sk-nobody-knows-this-key' });
    expect(stranger.status).toBe(401);
  } finally {
    await gateway.close();
  }
}, 60_000);
