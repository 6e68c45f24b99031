import { describe, expect, test } from 'vitest';
import { describeChannels, shareGateway } from './support.ts';
import { textProtocols, type TextProtocol } from './text-protocols.ts';

/* Members that mean something to JavaScript or to one JSON parser only, on every protocol, at any depth. */

const shared = shareGateway({
  config: describeChannels([
    { name: 'native', models: ['native -> demo-chat'] },
    { name: 'chat', models: ['by-chat -> demo-chat'], protocols: ['chat'] },
    { name: 'messages', models: ['by-messages -> demo-chat'], protocols: ['messages'] },
  ]),
});

/** Values with visible effects if an object adopted them. */
const poison =
  '{"polluted":true,"model":"unknown","stream":true,"max_tokens":1,"messages":[],"toJSON":1}';
const traps = [
  `"__proto__":${poison}`,
  `"\\u005f_proto__":${poison}`,
  `"constructor":{"prototype":${poison}}`,
  '"__proto__":null',
  '"hasOwnProperty":1,"toString":"x","valueOf":[],"then":"x"',
];

/** The protocol's body with the trap inside of every object that it has, tools and settings too. */
function bodyWith(protocol: TextProtocol, model: string, trap: string): string {
  const text = JSON.stringify({ ...protocol.body(model, false), ...moreOf[protocol.name] });
  return text.replaceAll('{"', `{${trap},"`);
}

const schema = { type: 'object', properties: { a: { type: 'string' } } };
const moreOf: Record<TextProtocol['name'], object> = {
  chat: {
    tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
    metadata: { a: 'b' },
    stream_options: { include_usage: false },
  },
  responses: {
    tools: [{ type: 'function', name: 'f', parameters: schema }],
    metadata: { a: 'b' },
    reasoning: { effort: 'low' },
  },
  messages: {
    tools: [{ name: 'f', input_schema: schema }],
    thinking: { type: 'disabled' },
  },
  'generate-content': {
    tools: [{ functionDeclarations: [{ name: 'f', parameters: schema }] }],
    generationConfig: { temperature: 1 },
  },
};

describe.each(textProtocols)('$name', (protocol) => {
  test.each(traps)('%s is an ordinary member', async (trap) => {
    const { gateway } = shared;
    const other = protocol.name === 'messages' ? 'by-chat' : 'by-messages';
    for (const model of ['native', other]) {
      gateway.simulator.clear();
      const sent = bodyWith(protocol, model, trap);
      const response = await gateway.post(protocol.path(model, false), sent);
      const text = await response.text();
      // The simulator, as strict as the vendors, may refuse what it does not know.
      expect([model, response.status, text]).toEqual([model, expect.toBeOneOf([200, 400]), text]);
      expect(response.headers.get('content-type')).toContain('application/json');
      if (response.status === 200) expect(text).toContain('You said');
      else expect(protocol.errorMessage(JSON.parse(text))).not.toContain('unknown');
      if (model !== 'native') continue;
      const [upstream] = gateway.simulator.requests();
      // The client's own protocol forwards the original bytes except for the model's name.
      const expected = sent.replaceAll('"native"', '"demo-chat"');
      expect(JSON.stringify(upstream?.json)).toBe(JSON.stringify(JSON.parse(expected)));
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    const [row] = await gateway.usage();
    expect(row).toMatchObject({ key: 'test', model: other });
  });

  const named = protocol.name === 'generate-content' ? 'contents' : 'model';
  test.each([
    [`"${named}":1`, named],
    [`"\\u00${named.charCodeAt(0).toString(16)}${named.slice(1)}":1`, named],
    [`"${named.toUpperCase()}":1`, named.toUpperCase()],
  ])('%s beside the real one is refused', async (member, key) => {
    const { gateway } = shared;
    gateway.simulator.clear();
    const text = JSON.stringify(protocol.body('native', false));
    for (const sent of [text.replace('{', `{${member},`), text.replace(/\}$/, `,${member}}`)]) {
      const response = await gateway.post(protocol.path('native', false), sent);
      const message = protocol.errorMessage(await response.json());
      expect(response.status).toBe(400);
      // The second of the two is the one that is named.
      expect(message).toMatch(
        new RegExp(`^invalid request body: duplicate key '(${key}|${named})'$`),
      );
    }
    expect(gateway.simulator.requests()).toEqual([]);
  });
});
