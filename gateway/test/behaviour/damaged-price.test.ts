import { expect, test } from 'vitest';
import { startTestGateway } from '../support/gateway.ts';
import { ask, describeChannels, ordinaryPrice } from './support.ts';
import { textProtocols } from './text-protocols.ts';

const [chat] = textProtocols;

test('R-43 a damaged price raises an alarm; its model keeps the last valid price, a new model is refused', async () => {
  const alarms: string[] = [];
  const gateway = await startTestGateway({
    config: describeChannels(
      [
        {
          name: 'sim',
          protocols: ['chat'],
          models: ['priced -> demo-chat', 'second -> demo-chat'],
        },
      ],
      (model) => (model === 'priced' ? ordinaryPrice : ''),
    ),
    logger: {
      error: (message, error) => void alarms.push(`${message}: ${(error as Error).message}`),
    },
  });
  try {
    const before = await ask(gateway, chat!, false, 'priced');
    expect(before.status).toBe(200);
    const { kysely } = gateway.app.database;
    await kysely.transaction().execute(async (trx) => {
      const { value } = await trx
        .updateTable('revisions')
        .set((expression) => ({ value: expression('value', '+', 1) }))
        .where('name', '=', 'global')
        .returning('value')
        .executeTakeFirstOrThrow();
      for (const { id, settings } of await trx.selectFrom('models').selectAll().execute()) {
        const damaged = { ...(JSON.parse(settings) as object), price: { input: 'x', output: '2' } };
        await trx
          .updateTable('models')
          .set({ settings: JSON.stringify(damaged), revision: value })
          .where('id', '=', id)
          .execute();
      }
    });
    await gateway.app.refresh();
    expect(alarms.toSorted()).toEqual([
      "invalid stored price: the price of model 'priced' cannot be read: the last valid one stays in force",
      "invalid stored price: the price of model 'second' cannot be read: requests that need it are refused",
    ]);
    const after = await ask(gateway, chat!, false, 'priced');
    expect(after.status).toBe(200);
    const refused = await ask(gateway, chat!, false, 'second');
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('no price is set');
    const rows = await gateway.usage();
    const costs = [before, after].map(({ id }) => rows.find((row) => row.id === id)?.cost);
    expect(costs[0]).toMatch(/^0\.\d+$/);
    expect(costs[1]).toBe(costs[0]);
  } finally {
    await gateway.close();
  }
});
