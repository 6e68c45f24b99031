import type { LookupFunction } from 'node:net';
import { expect, test } from 'vitest';
import { isOfTheLink, watchedLookup } from './watched-lookup.ts';

test.each([
  ['169.254.169.254', true],
  ['::ffff:169.254.169.254', true],
  ['fe80::1', true],
  ['64:ff9b::a9fe:a9fe', true],
  ['2002:a9fe:a9fe::1', true],
  ['::169.254.169.254', true],
  ['64:ff9b::808:808', false],
  ['::1', false],
  ['fd00:ec2::254', true],
  ['100.100.100.200', true],
  ['192.0.0.192', true],
  ['127.0.0.1', false],
  ['10.0.0.7', false],
  ['fd00:ec2::255', false],
  ['8.8.8.8', false],
  ['metadata.google.internal', false],
])('%s is of the link: %s', (address, isOne) => {
  expect(isOfTheLink(address)).toBe(isOne);
});

const found =
  (...addresses: string[]): LookupFunction =>
  (_name, options, callback) => {
    const all = addresses.map((address) => ({ address, family: 4 }));
    if (options.all === true) callback(null, all);
    else callback(null, addresses[0]!, 4);
  };

function ask(
  lookup: LookupFunction,
  all: boolean,
): { readonly error: Error | null; readonly steps: number } {
  let steps = 0;
  let failure: Error | null = null;
  watchedLookup(lookup, () => (steps += 1))('a.test', { all }, (error) => (failure = error));
  return { error: failure, steps };
}

test.each([true, false])('a name with such an address is not resolved (all: %s)', (all) => {
  expect(ask(found('169.254.169.254', '10.0.0.1'), all)).toEqual({
    error: expect.any(Error),
    steps: 0,
  });
  expect(ask(found('10.0.0.1'), all)).toEqual({ error: null, steps: 1 });
});
