import { expect, test } from 'vitest';
import { until } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { sharePricedGateway } from './billed-gateway.ts';

const secretOf = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuvwxyz`;
const members = ['greedy', 'modest'];
const everyone = textProtocols.flatMap(({ name: team }) =>
  members.map((name) => ({ team, name: `${name}-${team}` })),
);
/** A team for each protocol. No response of the model can cost more than 2.1 USD. */
const shared = sharePricedGateway(`
users:
${everyone.map(({ name }) => `  - { email: ${name}@example.com }`).join('\n')}
teams:
${textProtocols
  .map(({ name: team }) => {
    const own = members.map((name) => `{ user: ${name}-${team}@example.com, role: member }`);
    return `  - { name: ${team}, balance: 20, members: [${own.join(', ')}] }`;
  })
  .join('\n')}
keys:
${everyone
  .map(
    ({ name, team }) =>
      `  - { name: ${name}, user: ${name}@example.com, team: ${team}, secret: ${secretOf(name)} }`,
  )
  .join('\n')}
`);

test.each(textProtocols)(
  '$name: an absurd output limit of one member does not hold what the team has',
  async (protocol) => {
    const { gateway } = shared;
    gateway.simulator.clear();
    const ask = async (member: string, limit: number, fault: string) => {
      const body = protocol.body('priced', false);
      const field = { chat: 'max_tokens', responses: 'max_output_tokens', messages: 'max_tokens' };
      const asked =
        protocol.name === 'generate-content'
          ? { ...body, generationConfig: { maxOutputTokens: limit } }
          : { ...body, [field[protocol.name]]: limit };
      const response = await gateway.post(protocol.path('priced', false), JSON.stringify(asked), {
        authorization: `Bearer ${secretOf(`${member}-${protocol.name}`)}`,
        'x-simulator-fault': fault,
      });
      await response.text();
      return response.status;
    };
    const order: string[] = [];
    const greedy = ask('greedy', 1_000_000_000, 'delay=800').then(() => order.push('greedy'));
    await until(() => gateway.simulator.requests().length === 1, 'the greedy one is under way');
    expect(await ask('modest', 20, '')).toBe(200);
    order.push('modest');
    await greedy;
    expect(order).toEqual(['modest', 'greedy']);
  },
);
