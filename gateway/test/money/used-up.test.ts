import { describe, expect, test } from 'vitest';
import { ask, rowOf } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { testKey, type TestGateway } from '../support/gateway.ts';
import { openPricedGateway } from './billed-gateway.ts';

const poor = (balance: string): Promise<TestGateway> =>
  openPricedGateway(`
users: [{ email: poor@example.com, balance: ${balance} }]
keys: [{ name: poor, user: poor@example.com, secret: ${testKey} }]`);

describe.each(textProtocols)('$name', (protocol) => {
  test('B-22 a balance of a cent admits one request, and none once it is used up', async () => {
    const gateway = await poor('0.01');
    const first = await ask(gateway, protocol, false, 'priced');
    expect(first.status).toBe(200);
    // The promise is kept and reported: the response cost more than there was.
    expect(Number((await rowOf(gateway, first.id)).cost)).toBeGreaterThan(0.01);
    const second = await ask(gateway, protocol, false, 'priced');
    expect(second.status).toBe(402);
    expect(protocol.errorMessage(JSON.parse(second.text))).toMatch(/^insufficient balance/);
    expect(await rowOf(gateway, second.id)).toMatchObject({ outcome: 'refused', cost: null });
    expect(gateway.simulator.requests()).toHaveLength(1);
  });

  test('B-22 less than a cent admits nothing', async () => {
    const gateway = await poor('0.0099');
    const response = await ask(gateway, protocol, true, 'priced');
    expect(response.status).toBe(402);
    expect(await rowOf(gateway, response.id)).toMatchObject({ outcome: 'refused', cost: null });
    expect(gateway.simulator.requests()).toEqual([]);
  });
});
