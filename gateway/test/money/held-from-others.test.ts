import { expect, test } from 'vitest';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { openPricedGateway } from './billed-gateway.ts';

const secretOf = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuvwxyz`;
const members = ['greedy', 'modest'];
/** No response of the model can cost more than 2.1 USD. */
const accounts = `
users:
${members.map((name) => `  - { email: ${name}@example.com }`).join('\n')}
teams:
  - name: shared
    balance: 20
    members: [${members.map((name) => `{ user: ${name}@example.com, role: member }`).join(', ')}]
keys:
${members
  .map(
    (name) =>
      `  - { name: ${name}, user: ${name}@example.com, team: shared, secret: ${secretOf(name)} }`,
  )
  .join('\n')}
`;

test.each(textProtocols)(
  '$name: an absurd output limit of one member does not hold what the team has',
  async (protocol) => {
    const gateway = await openPricedGateway(accounts);
    const ask = async (member: string, limit: number, fault: string) => {
      const body = protocol.body('priced', false);
      const field = { chat: 'max_tokens', responses: 'max_output_tokens', messages: 'max_tokens' };
      const asked =
        protocol.name === 'generate-content'
          ? { ...body, generationConfig: { maxOutputTokens: limit } }
          : { ...body, [field[protocol.name]]: limit };
      const response = await gateway.post(protocol.path('priced', false), JSON.stringify(asked), {
        authorization: `Bearer ${secretOf(member)}`,
        'x-simulator-fault': fault,
      });
      await response.text();
      return response.status;
    };
    const greedy = ask('greedy', 1_000_000_000, 'delay=1500');
    await new Promise((resolve) => void setTimeout(resolve, 300));
    expect(await ask('modest', 20, '')).toBe(200);
    await greedy;
  },
);
