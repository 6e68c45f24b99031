import { describe, expect, it } from 'vitest';
import { GatewayError, type ErrorName } from '#errors/index.ts';
import { bearer, call, startGateway } from './support.ts';

/** As its programs and products that are built on it introduce themselves. */
const codex = [
  { 'user-agent': 'codex_exec/0.169.0 (Debian 12.0.0; x86_64) dumb' },
  { 'user-agent': 'codex-tui/0.169.0 (Mac OS 26.1.0; arm64) ghostty' },
  { 'user-agent': 'MyEditor/1.0', originator: 'my_editor' },
];

async function refusal(
  name: ErrorName,
  headers: Record<string, string>,
  retryAfter?: number,
  path = '/v1/responses',
) {
  const error = new GatewayError(name, {
    values: { payer: 'user' },
    ...(retryAfter !== undefined && { retryAfter }),
  });
  const { port } = await startGateway({ run: () => Promise.reject(error) });
  const response = await call(port, path, { headers: { ...bearer(), ...headers }, body: '{}' });
  const body = (response.json as { error?: Record<string, unknown> } | null)?.error ?? {};
  return { ...response, error: body };
}

describe.each(codex)('Codex as %j', (headers) => {
  it.each([
    ['upstream_overloaded', 529],
    ['overloaded', 503],
  ] as const)('%s is %i, as for everybody', async (name, expected) => {
    const { status, error } = await refusal(name, headers);
    expect([status, error['code']]).toEqual([expected, 'server_is_overloaded']);
  });

  it.each(['insufficient_balance', 'user_quota_exceeded', 'key_quota_exceeded'] as const)(
    '%s is 402, as for everybody: Codex shows its message',
    async (name) => {
      const { status, error, headers: head } = await refusal(name, headers);
      expect(status).toBe(402);
      expect(error).toEqual({
        message: expect.stringMatching(
          /^(insufficient balance|(key )?quota limit exceeded): .*can/,
        ),
        type: 'insufficient_balance',
        param: null,
        code: 'insufficient_quota',
      });
      expect(head['x-should-retry']).toBe('false');
      expect(head['x-codex-promo-message']).toBeUndefined();
    },
  );

  it.each(['team_daily_budget_exceeded', 'member_budget_exceeded'] as const)(
    '%s is a limit that is reached, without a time',
    async (name) => {
      const { status, error, headers: head } = await refusal(name, headers);
      expect(status).toBe(429);
      expect(head['x-codex-promo-message']).toBe(error['message']);
      expect(error).toEqual({
        message: expect.stringMatching(/budget exceeded$/),
        type: 'usage_limit_reached',
        param: null,
        code: 'insufficient_quota',
      });
      expect(head['x-should-retry']).toBe('false');
    },
  );

  it('a wait of more than a minute is such a limit too, with its end', async () => {
    const before = Date.now() / 1000;
    const { status, error, headers: head } = await refusal('rate_limited', headers, 3_600);
    expect(status).toBe(429);
    expect(error).toMatchObject({ type: 'usage_limit_reached', resets_in_seconds: 3_600 });
    expect(error['resets_at']).toBeGreaterThanOrEqual(Math.floor(before + 3_600));
    expect(error['resets_at']).toBeLessThan(Date.now() / 1000 + 3_602);
    expect(head['retry-after']).toBe('3600');
  });

  it('a short wait and every other error stay as they are', async () => {
    const limited = await refusal('rate_limited', headers, 7);
    expect(limited).toMatchObject({ status: 429, error: { type: 'rate_limit_error' } });
    expect(await refusal('upstream_abnormal', headers)).toMatchObject({ status: 502 });
    expect(await refusal('model_required', headers)).toMatchObject({ status: 400 });
  });
});

it('no other client and no other path gets this form', async () => {
  const python = { 'user-agent': 'OpenAI/Python 3.1.0' };
  expect(await refusal('upstream_overloaded', python)).toMatchObject({
    status: 529,
    error: { type: 'overloaded_error' },
  });
  expect(await refusal('insufficient_balance', python)).toMatchObject({
    status: 402,
    error: { type: 'insufficient_balance' },
  });
  const [tui] = codex;
  for (const [client, path] of [
    [python, '/v1/responses'],
    [tui!, '/v1/chat/completions'],
  ] as const) {
    expect(await refusal('member_budget_exceeded', client, undefined, path)).toMatchObject({
      status: 429,
      error: { type: 'rate_limit_error' },
    });
  }
});
