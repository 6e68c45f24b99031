import { expect, test } from 'vitest';
import { parseConfig } from '#config/index.ts';
import { openGateway } from '../behaviour/support.ts';
import { testKey, type TestGateway } from '../support/gateway.ts';
import { dayApart } from '../support/time-zones.ts';

/* B-18: a team's time zone applies from its next window on; what the open one has spent stays spent. */

const [east, west] = dayApart;

const worldOf = (timeZone: string): string => `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [{ name: m, upstream: demo-chat }] }
models: [{ id: m, type: chat, context_window: 4000, max_output_tokens: 1000, price: { input: 1000, output: 2000 } }]
users: [{ email: tester@example.com }]
teams: [{ name: t, balance: 1000, time_zone: ${timeZone}, budget: { daily: 0.02, monthly: 500 } }]
keys:
  - { name: test, user: tester@example.com, team: t, secret: ${testKey} }
`;

async function move(gateway: TestGateway, timeZone: string): Promise<void> {
  const { dataDir } = gateway.app;
  const text = `
server: { port: 0 }
storage: { url: "sqlite:${dataDir}/test.db", data_dir: "${dataDir}" }
${worldOf(timeZone).replaceAll('SIMULATOR', gateway.simulator.url)}`;
  const about = { file: 'test.yaml', environment: {}, bundledModels: ['demo-chat'] };
  await gateway.app.reload(parseConfig(text, about));
  await gateway.app.refresh();
}

async function ask(gateway: TestGateway): Promise<number> {
  const response = await gateway.post('/v1/chat/completions', {
    model: 'm',
    messages: [{ role: 'user', content: 'hello' }],
  });
  await response.text();
  return response.status;
}

async function daily({ url }: TestGateway): Promise<{ window: string; used: string }> {
  const headers = { authorization: `Bearer ${testKey}` };
  const response = await fetch(`${url}/v1/usage`, { headers });
  const { limits } = (await response.json()) as {
    limits: { team: { daily: { window: string; used: string }; monthly: { window: string } } };
  };
  expect(limits.team.monthly.window).toBe(limits.team.daily.window.slice(0, 7));
  return limits.team.daily;
}

test.each([
  [east, west],
  [west, east],
])('from %s to %s: the open day continues, and is used up', async (from, to) => {
  const gateway = await openGateway({ config: worldOf(from) });
  expect([await ask(gateway), await ask(gateway)]).toEqual([200, 429]);
  const before = await daily(gateway);
  await move(gateway, to);
  expect(await ask(gateway)).toBe(429);
  expect(await daily(gateway)).toEqual(before);
  await move(gateway, from);
  expect(await ask(gateway)).toBe(429);
  expect(await daily(gateway)).toEqual(before);
});
