import { expect, test } from 'vitest';
import { createSecrets } from '#database/index.ts';
import { newWayBack, openWayBack, sealWayBack, wayBackAge } from './way-back.ts';

const secrets = createSecrets(Buffer.alloc(32, 1));

test('a way back is open for ten minutes, unaltered, under the same master key', () => {
  const wayBack = newWayBack('/console/keys', null, 1_000);
  const sealed = sealWayBack(secrets, wayBack);
  expect(openWayBack(secrets, sealed, 1_000 + wayBackAge - 1)).toEqual(wayBack);
  expect(openWayBack(secrets, sealed, 1_000 + wayBackAge)).toBe(null);
  const other = sealed[9] === 'A' ? 'B' : 'A';
  const altered = sealed.slice(0, 9) + other + sealed.slice(10);
  expect(openWayBack(secrets, altered, 1_000)).toBe(null);
  expect(openWayBack(createSecrets(Buffer.alloc(32, 2)), sealed, 1_000)).toBe(null);
  expect(openWayBack(secrets, 'v1.x', 1_000)).toBe(null);
});
