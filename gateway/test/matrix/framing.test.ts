import { describe, expect, test } from 'vitest';
import { shareGateway } from '../behaviour/support.ts';
import { inTurn } from '../support/runs.ts';
import { onePerProtocol, pairs } from './gateway.ts';
import { sdks } from './sdk/index.ts';

const shared = shareGateway({ config: onePerProtocol });
const text = 'äöü 水門は運河の水を保つ 🌊👩‍👩‍👧';

/** Ways in which a stream may arrive that say the same. */
const framings = [
  'slice=1',
  'slice=7',
  'slice=random;seed=3',
  'crlf',
  'comments',
  'no-final-blank',
  'crlf;comments;no-final-blank;slice=2',
];

const cases = pairs.map((pair, index) => ({ ...pair, index }));

describe.each(cases)('$name', ({ client, upstream, index }) => {
  const texts = [text, `call tools ${text}`].map((said, at) => ({ said, turn: 2 * index + at }));

  test.each(texts)('K42 K43 K44 $said: the same in other pieces', async ({ said, turn }) => {
    const sdk = sdks[client.name];
    const model = `thinks-${upstream}`;
    const asked = { model, text: said, think: true, tools: true, stream: true };
    const { goOn: _, ...expected } = await sdk.ask(shared.gateway.url, asked);
    expect(expected.reasoning).toContain(text);
    if (said === text) expect(expected.text).toContain(text);
    else expect(expected.calls).toHaveLength(2);
    const calls = expected.calls.map(({ name, input }) => ({ name, input }));
    for (const framing of inTurn(turn, framings)) {
      const headers = { 'x-simulator-fault': framing };
      const response = await sdk.ask(shared.gateway.url, { ...asked, headers });
      expect(response, framing).toMatchObject({ ...expected, calls });
    }
  });
});
