import { describe, expect, it } from 'vitest';
import { expectLinear as assertLinear } from '#test/support/growth.ts';
import { pathOf, repairTarget, withoutBase } from './target.ts';

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
