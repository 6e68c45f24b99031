import { describe, expect, test } from 'vitest';
import { shareGateway } from '../behaviour/support.ts';
import { describeServed, protocolNames, type ProtocolName } from './gateway.ts';
import { sdks } from './sdk/index.ts';

/** The names say that they think, and for generateContent that calls of another vendor have to be marked. */
const upstreamModels: Readonly<Record<ProtocolName, string>> = {
  chat: 'demo-reasoning',
  responses: 'demo-reasoning',
  messages: 'demo-reasoning',
  'generate-content': 'gemini-3-reasoning',
};

/**
 * Conversations that move from one vendor to another and back, with tools and thoughts. The simulator refuses a
 * signature that is not its protocol's own, one that was changed, and a call whose signature is missing.
 */
const shared = shareGateway({
  config: describeServed(
    protocolNames.map((name) => ({
      name: `only-${name}`,
      protocols: [name],
      models: [[`thinks-${name}`, upstreamModels[name]]] as const,
    })),
  ),
});

/** Of each protocol: what the simulator signed in it. */
const signed: Readonly<Record<ProtocolName, RegExp | null>> = {
  chat: null,
  responses: /"encrypted_content":"c2ltdWxhdG9y/g,
  messages: /"signature":"c2ltdWxhdG9y/g,
  'generate-content': /"thoughtSignature":"c2ltdWxhdG9y/g,
};

const alternations: readonly (readonly [ProtocolName, ProtocolName])[] = [
  ['messages', 'generate-content'],
  ['responses', 'messages'],
  ['responses', 'generate-content'],
];

describe.each(
  protocolNames.flatMap((client) =>
    alternations.map(([a, b]) => ({ client, a, b, name: `${client}: ${a} ⇄ ${b}` })),
  ),
)('$name', ({ client, a, b }) => {
  test.each([false, true])(
    'K20 K22 moves to and fro with tools and reasoning, stream %s',
    async (stream) => {
      const { url, simulator } = shared.gateway;
      const first = await sdks[client].ask(url, {
        model: `thinks-${a}`,
        text: 'call tools',
        tools: true,
        think: true,
        stream,
      });
      // The tools' results go to another vendor than the one that called them.
      let response = first;
      for (const upstream of [b, a, b, a]) {
        expect(response.calls.length).toBeGreaterThan(0);
        const model = `thinks-${upstream}`;
        const told = await response.goOn({ model });
        expect(told.text).toContain('The tool answered: "result 0"');
        response = await told.goOn({ model, text: 'call tools' });
      }
      // What each of the two thought and called itself came back to it, and nothing else did.
      const body = simulator.requests().at(-1)?.body ?? '';
      // `gw2.`, and in the base64 of clients that keep bytes.
      expect(body).not.toMatch(/gw2\.|Z3cyL[i-n]/);
      const own = signed[a];
      if (own !== null) expect(body.match(own)?.length).toBeGreaterThan(1);
      const others = signed[b];
      if (others !== null) expect(body).not.toMatch(others);
      expect((await response.goOn()).text).toContain('The tool answered: "result 0"');
    },
  );
});

describe.each(protocolNames)('a %s client', (client) => {
  test.each([false, true])('moves across all vendors and back, stream %s', async (stream) => {
    const { url, simulator } = shared.gateway;
    let response = await sdks[client].ask(url, {
      model: 'thinks-chat',
      text: 'call tools',
      tools: true,
      think: true,
      stream,
    });
    for (const upstream of ['responses', 'messages', 'generate-content', 'chat'] as const) {
      const model = `thinks-${upstream}`;
      const told = await response.goOn({ model });
      expect(told.text).toContain('"result 0" and "result 1"');
      response = await told.goOn({ model, text: 'call tools' });
      expect(response.calls).toHaveLength(2);
      expect(response.reasoning).not.toBe('');
      const body = simulator.requests().at(-1)?.body ?? '';
      for (const [name, pattern] of Object.entries(signed)) {
        if (name !== upstream && pattern !== null) expect(body).not.toMatch(pattern);
      }
    }
  });
});
