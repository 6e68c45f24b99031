import { expect, test } from 'vitest';
import { createSurfaces, type Surface } from './surface.ts';

const surface = (prefix: string, base: string): Surface => ({
  prefix,
  base,
  shape: { encodeError: () => prefix },
});
const list = [surface('/', '/v1'), surface('/v1/talk', ''), surface('/v2beta/', '/v2beta')];

const prefixOf = (url: string): string =>
  createSurfaces(list)
    .shapeOf({ method: 'GET', headers: {}, url })
    // The encoder of these surfaces ignores the error.
    .encodeError(null as never, '');

test.each([
  ['/', '/'],
  ['/other', '/'],
  ['/v1/talk', '/v1/talk'],
  ['/v1/talkative?x=/v2beta/', '/v1/talk'],
  ['/v1/%74alk', '/v1/talk'],
  ['/v2beta', '/v2beta/'],
  ['/v2beta/x', '/v2beta/'],
  ['/v2betas', '/'],
  ['*', '/'],
])('%s belongs to the surface of %s', (url, prefix) => {
  expect(prefixOf(url)).toBe(prefix);
});

test.each([
  ['/v1/talk', ''],
  ['/v2beta/x', '/v2beta'],
  ['/v2beta', '/v1'],
  ['/other', '/v1'],
])('the base URL for %s ends in %j', (path, base) => {
  expect(createSurfaces(list).baseOf(path)).toBe(base);
});

test('the request decides where protocols share a path', () => {
  const { shape } = surface('/shared', '');
  const byMethod: Surface = {
    prefix: '/v1/shared',
    base: '/v1',
    shape: ({ method }) => (method === 'POST' ? (shape as never) : { encodeError: () => 'get' }),
  };
  const { shapeOf } = createSurfaces([...list, byMethod]);
  const at = (method: string) => shapeOf({ method, headers: {}, url: '/v1/shared' });
  expect(at('GET').encodeError(null as never, '')).toBe('get');
  expect(at('POST')).toBe(shape);
});

test('the bases are those of all surfaces, once each and longest first', () => {
  expect(createSurfaces([...list, surface('/v1/x', '/v1')]).bases).toEqual(['/v2beta', '/v1']);
});

test('some surface takes what no other covers', () => {
  expect(() => createSurfaces(list.slice(1))).toThrow("no surface has the prefix '/'");
});
