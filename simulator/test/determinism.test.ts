import { expect, test } from 'vitest';
import { startSimulator } from '../src/index.ts';
import { ask, askStream, protocolNames } from './client.ts';

test.each(protocolNames)(
  'two simulators give the same response to a %s request',
  async (protocol) => {
    const [one, other] = [await startSimulator(), await startSimulator()];
    try {
      const first = await askStream(one, protocol);
      // Twice, because the second one comes from the cache.
      await askStream(other, protocol);
      expect((await askStream(other, protocol)).text).toBe(first.text);
      expect((await ask(one, protocol)).text).toBe((await ask(other, protocol)).text);
    } finally {
      await Promise.all([one.close(), other.close()]);
    }
  },
);

test('different requests get different ids, and a clock can be given', async () => {
  const simulator = await startSimulator({ clock: () => 1_234_567_890_123 });
  try {
    const one = await ask(simulator, 'chat');
    const other = await ask(simulator, 'chat', { user: 'someone' });
    expect(one.json.id).not.toBe(other.json.id);
    expect(one.json.created).toBe(1_234_567_890);
  } finally {
    await simulator.close();
  }
});

test('a simulator with another signing key refuses the thinking of this one', async () => {
  const one = await startSimulator();
  const other = await startSimulator({ signingKey: 'another account' });
  try {
    const { json } = await ask(one, 'messages', { model: 'demo-reasoning' });
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: json.content },
      { role: 'user', content: 'b' },
    ];
    expect((await ask(one, 'messages', { messages })).status).toBe(200);
    expect((await ask(other, 'messages', { messages })).status).toBe(400);
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
});
