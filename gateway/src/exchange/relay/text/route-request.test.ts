import { expect, test } from 'vitest';
import type { Channel } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import { findVendor } from '#vendors/index.ts';
import { upstreamRequest } from './route-request.ts';
import type { TextInput } from './input.ts';

const timeouts: Timeouts = {
  connect: 1,
  firstByte: 2,
  imageFirstByte: 3,
  streamIdle: 4,
  total: 5,
  keepaliveComment: 6,
};

const build = (
  protocol: TextInput['protocol'],
  provider: Channel['provider'],
  headers: Record<string, string>,
  channel: Partial<Channel> = {},
  upstream = protocol,
) => {
  const full = {
    id: 'ch_1',
    name: 'main',
    provider,
    baseUrl: 'http://upstream.test:9/v1',
    headers: {},
    timeouts: {},
    ...channel,
  } as Channel;
  const request = {
    route: { channel: full, upstreamModel: 'up' },
    vendor: findVendor(provider)!,
    betas: null,
    convertedRequest: upstream === protocol ? null : { protocol: upstream },
    patchedRequest: { body: Buffer.from('{}') },
  };
  const input = { protocol, headers, operation: 'generate' } as const;
  return upstreamRequest({ timeouts }, input, request, 'sk-upstream', true);
};

test('S-26: only the allow-list goes upstream, and the credential is the channel’s own', () => {
  const request = build('chat', 'openai', {
    authorization: 'Bearer sk-client',
    'x-api-key': 'sk-client',
    'x-goog-api-key': 'sk-client',
    cookie: 'session=1',
    'x-forwarded-for': '10.0.0.1',
    forwarded: 'for=10.0.0.1',
    connection: 'close',
    'transfer-encoding': 'chunked',
    'x-simulator-fault': 'status=500',
    'user-agent': 'OpenAI/JS 7',
    accept: 'text/event-stream',
    'openai-beta': 'x=1',
  });
  expect(request.headers).toEqual({
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    accept: 'text/event-stream',
    'user-agent': 'OpenAI/JS 7',
    'openai-beta': 'x=1',
    authorization: 'Bearer sk-upstream',
  });
  expect(request.origin + request.path).toBe('http://upstream.test:9/v1/chat/completions');
});

test('the version header has a default', () => {
  expect(build('messages', 'anthropic', {}).headers['anthropic-version']).toBe('2023-06-01');
  const named = build('messages', 'anthropic', { 'anthropic-version': '2026-10-21' });
  expect(named.headers['anthropic-version']).toBe('2026-10-21');
  const beta = build('messages', 'anthropic', { 'anthropic-beta': 'a,b' });
  expect(beta.headers['anthropic-beta']).toBe('a,b');
});

test('the simulator also gets its own headers', () => {
  const request = build('chat', 'simulator', { 'x-simulator-fault': 'refuse' });
  expect(request.headers['x-simulator-fault']).toBe('refuse');
});

test('a channel adds headers and overrides time-outs', () => {
  const request = build(
    'chat',
    'openai',
    {},
    {
      headers: { 'x-team': 'a' },
      timeouts: { connect: 99 },
    },
  );
  expect(request.headers['x-team']).toBe('a');
  expect(request.timeouts).toEqual({ ...timeouts, connect: 99 });
});

test('another protocol is spoken in its own words: versions and betas of the client’s stay here', () => {
  const headers = { 'anthropic-beta': 'x', 'openai-beta': 'y', 'user-agent': 'claude-cli/2' };
  const request = build('chat', 'anthropic', headers, {}, 'messages');
  expect(request.path).toBe('/v1/messages');
  expect(request.headers).toMatchObject({
    'anthropic-version': '2023-06-01',
    'user-agent': 'claude-cli/2',
  });
  expect(request.headers).not.toHaveProperty('anthropic-beta');
  expect(request.headers).not.toHaveProperty('openai-beta');
});
