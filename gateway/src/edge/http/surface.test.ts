import { describe, expect, it, test } from 'vitest';
import { expectLinear as assertLinear } from '#test/support/growth.ts';
import { createSurfaces, pathOf, repairTarget, type Surface, withoutBase } from './surface.ts';

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

const bases = ['/v1', '/v1beta', '/api/v3'];

describe('the target for routing', () => {
  it.each([
    ['/', '/'],
    ['/?a=//', '/?a=//'],
    ['//', '/'],
    ['/v1/messages', '/v1/messages'],
    ['/v1/messages?next=/v1/v1//', '/v1/messages?next=/v1/v1//'],
    ['/v1/messages/?a=b/', '/v1/messages?a=b/'],
    ['///v1///messages///', '/v1/messages'],
    ['/v1/v1', '/v1'],
    ['/v1/v1beta', '/v1beta'],
    ['/v1/v1/v1beta/v1/models', '/v1/models'],
    ['/v1//v1/models', '/v1/models'],
    ['/api/v3/api/v3/x', '/api/v3/x'],
    ['/v1x/v1/models', '/v1x/v1/models'],
    ['/v1/v1x', '/v1/v1x'],
    ['/models/v1/v1', '/models/v1/v1'],
    ['http://x/v1/models', '/http://x/v1/models'],
    ['http:/v1/models', '/http:/v1/models'],
    ['*', '/*'],
    ['', '/'],
  ])('of %s is %s', (target, expected) => {
    expect(repairTarget(target, bases)).toBe(expected);
  });

  it.each([
    (size: number) => `${'/v1'.repeat(size)}x`,
    (size: number) => '/'.repeat(size),
    (size: number) => `/${'v1/'.repeat(size)}/`,
  ])('is found in linear time: %s', (targetOf) => {
    assertLinear(
      (size) => {
        const target = targetOf(size);
        return () => repairTarget(target, bases);
      },
      // Longer ones than Node reads.
      { largest: 16_384 },
    );
  });
});

it.each([
  ['/v1/models', '/models'],
  ['/v1beta/models', '/models'],
  ['/v1', null],
  ['/v1x/models', null],
  ['/models', null],
])('%s without its base is %s', (path, expected) => {
  expect(withoutBase(path, bases)).toBe(expected);
});

it.each([
  ['/v1/models?a=%41', '/v1/models'],
  ['/v1/%6Dodels', '/v1/models'],
  ['/v1/%2e%2e', '/v1/..'],
  ['/v1/%2F', '/v1/%2F'],
  ['/v1/%', '/v1/%'],
])('the path of %s is %s', (target, expected) => {
  expect(pathOf(target)).toBe(expected);
});
