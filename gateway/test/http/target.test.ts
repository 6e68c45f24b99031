import { describe, expect, it } from 'vitest';
import { surfaces } from '#endpoints/index.ts';
import { createSurfaces } from '#http/surface.ts';
import { repairTarget } from '#http/target.ts';
import { expectLinear as assertLinear } from '#test/support/growth.ts';

const { bases } = createSurfaces(surfaces);

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

  it('is found in linear time', () => {
    const targets: readonly ((size: number) => string)[] = [
      (size) => `${'/v1'.repeat(size)}x`,
      (size) => '/'.repeat(size),
      (size) => `/${'v1/'.repeat(size)}/`,
    ];
    for (const targetOf of targets) {
      assertLinear((size) => {
        const target = targetOf(size);
        return () => repairTarget(target, bases);
      });
    }
  });
});
