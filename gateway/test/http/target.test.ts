import { describe, expect, it } from 'vitest';
import { repairTarget } from '#http/target.ts';

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
    expect(repairTarget(target)).toBe(expected);
  });

  it('is found in linear time', () => {
    const started = performance.now();
    repairTarget(`${'/v1'.repeat(100_000)}x`);
    repairTarget('/'.repeat(320_000));
    repairTarget(`/${'v1/'.repeat(100_000)}/`);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
