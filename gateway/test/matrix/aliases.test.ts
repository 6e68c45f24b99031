import { afterAll, describe, expect, test } from 'vitest';
import { attemptsOf, jumpingClock, shareGateway } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { describeServed, type ProtocolName } from './gateway.ts';

/** Of each client: what only its own upstream gets, and in which order others replace it. */
const clients: Readonly<
  Record<ProtocolName, { lossy: object; lost: string; others: readonly ProtocolName[] }>
> = {
  chat: { lossy: { logit_bias: { 1: 1 } }, lost: 'logit_bias', others: ['messages', 'responses'] },
  responses: {
    lossy: { max_tool_calls: 3 },
    lost: 'max_tool_calls',
    others: ['generate-content', 'chat'],
  },
  messages: { lossy: { top_k: 5 }, lost: 'top_k', others: ['responses', 'chat'] },
  'generate-content': {
    lossy: {
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_ONLY_HIGH' }],
    },
    lost: 'safetySettings',
    others: ['chat', 'messages'],
  },
};

const cases = textProtocols.flatMap((client) =>
  [1, 2].map((count) => {
    const others = clients[client.name].others.slice(0, count);
    return { client, others, name: `${client.name}-${count}` };
  }),
);

/**
 * Every case has a model behind an alias. All but the last of its channels fail five times, which ejects them, and are
 * well again after that; the last one is asked when nobody else is left.
 */
const channels = cases.flatMap(({ client, others, name }) =>
  [client.name, ...others].map((protocol, at) => ({
    name: `${name}-${protocol}`,
    protocols: [protocol],
    models: [[`served-${name}`, 'demo-chat']] as const,
    ...(at < others.length
      ? { at: `/fault(status=500;times=5;id=${name}-${protocol})` }
      : { more: { weight: 0 } }),
  })),
);
const aliases = cases.map(({ name }) => `${name}: served-${name}`);
const shared = shareGateway({
  config: `${describeServed(channels)}\naliases: { ${aliases.join(', ')} }`,
});
const jump = jumpingClock(afterAll);

describe.each(cases)('$client.name, with $others in its stead', ({ client, others, name }) => {
  const { lossy, lost } = clients[client.name];
  const native = `${name}-${client.name}`;
  const standIn = `${name}-${others.at(-1)}`;

  /** Asks this many times in turn; gives the losses that the client sees, and the request's id. */
  async function ask(count: number) {
    const responses = [];
    for (let round = 0; round < count; round += 1) {
      const body = { ...client.body(name, false), ...lossy };
      const response = await shared.gateway.post(client.path(name, false), body);
      expect(await response.text()).toContain(`"${name}"`);
      const id = response.headers.get('x-request-id') ?? '';
      responses.push({ id, header: response.headers.get('x-sluice-conversion') });
    }
    return responses;
  }

  const natively = { channel: native, attempts: [native], losses: [], header: null };
  const converted = (...before: string[]) => ({
    channel: standIn,
    attempts: [...before, standIn],
    losses: [`dropped:${lost}`],
    header: `dropped=${lost}`,
  });

  test('uses its own channel while that is healthy, another one otherwise, and then its own again', async () => {
    const failing = [client.name, ...others.slice(0, -1)].map((each) => `${name}-${each}`);
    const ill = await ask(5);
    const ejected = await ask(3);
    jump(30_000);
    const well = await ask(5);

    const rows = new Map((await shared.gateway.usage()).map((row) => [row.id, row]));
    const told = (responses: typeof ill) =>
      responses.map(({ id, header }) => {
        const row = rows.get(id)!;
        expect(row).toMatchObject({ model: name, outcome: 'completed', protocol: client.name });
        const attempts = attemptsOf(row).map(({ channel }) => channel);
        return { channel: row.channel, attempts, losses: row.losses, header };
      });
    expect(told(ill)).toEqual(ill.map(() => converted(...failing)));
    expect(told(ejected)).toEqual(ejected.map(() => converted()));
    expect(told(well)).toEqual(well.map(() => natively));
  });
});
