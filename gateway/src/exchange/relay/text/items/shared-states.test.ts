import { expect, test } from 'vitest';
import { createStateStore, type KeptState } from '#conversion/index.ts';
import { createSharedStates } from './item-memory.ts';

const kept: KeptState = {
  maker: 'm',
  reasoning: [{ type: 'reasoning', text: 'so' }],
  call: { protocol: 'generate-content', kind: 'thought-signature', data: 'x' },
};

function open() {
  const texts = new Map<string, string>();
  const asked: string[][] = [];
  const copies = {
    keep(owner: string, all: ReadonlyMap<string, string>) {
      for (const [name, text] of all) texts.set(`${owner} ${name}`, text);
    },
    async find(owner: string, names: readonly string[]) {
      asked.push([...names]);
      return new Map(
        names.flatMap((name) => {
          const text = texts.get(`${owner} ${name}`);
          return text === undefined ? [] : [[name, text] as const];
        }),
      );
    },
  };
  return {
    asked,
    process: () => createSharedStates(createStateStore({ now: () => 0 }), copies),
  };
}

test('another process recalls what one has kept, once, and for its owner only', async () => {
  const { asked, process } = open();
  const [one, other] = [process(), process()];
  one.keep('user:1', 'call a', kept);
  await other.recall?.('user:2', ['call a']);
  expect(other.find('user:2', 'call a')).toBeNull();
  await other.recall?.('user:1', ['call a', 'call b', 'call a']);
  expect(other.find('user:1', 'call a')).toEqual(kept);
  await other.recall?.('user:1', ['call a', 'call b']);
  expect(asked).toEqual([['call a'], ['call a', 'call b'], ['call b']]);
});

test('a long conversation recalls its end', async () => {
  const { asked, process } = open();
  const names = Array.from({ length: 1_000 }, (_, at) => `call ${at}`);
  await process().recall?.('user:1', names);
  expect(asked).toEqual([names.slice(-200)]);
});
