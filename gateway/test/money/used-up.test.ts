import { describe, expect, test } from 'vitest';
import { ask, rowOf } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { sharePricedGateway } from './billed-gateway.ts';

const secretOf = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuvwxyz`;
const poor = textProtocols.flatMap(({ name }) => [
  { name: `cent-${name}`, balance: '0.01' },
  { name: `less-${name}`, balance: '0.0099' },
]);
const shared = sharePricedGateway(`
users:
${poor.map(({ name, balance }) => `  - { email: ${name}@example.com, balance: ${balance} }`).join('\n')}
keys:
${poor.map(({ name }) => `  - { name: ${name}, user: ${name}@example.com, secret: ${secretOf(name)} }`).join('\n')}`);

describe.each(textProtocols)('$name', (protocol) => {
  const askAs = (name: string, stream: boolean) =>
    ask(shared.gateway, protocol, stream, 'priced', { authorization: `Bearer ${secretOf(name)}` });

  test('B-22 a balance of a cent admits one request, and none once it is used up', async () => {
    const { gateway } = shared;
    gateway.simulator.clear();
    const first = await askAs(`cent-${protocol.name}`, false);
    expect(first.status).toBe(200);
    // The promise is kept and reported: the response cost more than there was.
    expect(Number((await rowOf(gateway, first.id)).cost)).toBeGreaterThan(0.01);
    const second = await askAs(`cent-${protocol.name}`, false);
    expect(second.status).toBe(402);
    expect(protocol.errorMessage(JSON.parse(second.text))).toMatch(/^insufficient balance/);
    expect(await rowOf(gateway, second.id)).toMatchObject({ outcome: 'refused', cost: null });
    expect(gateway.simulator.requests()).toHaveLength(1);
  });

  test('B-22 less than a cent admits nothing', async () => {
    const { gateway } = shared;
    gateway.simulator.clear();
    const response = await askAs(`less-${protocol.name}`, true);
    expect(response.status).toBe(402);
    expect(await rowOf(gateway, response.id)).toMatchObject({ outcome: 'refused', cost: null });
    expect(gateway.simulator.requests()).toEqual([]);
  });
});
