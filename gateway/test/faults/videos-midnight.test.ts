import { expect, test } from 'vitest';
import { awaitEnd, submitVideo, synthesis } from '../behaviour/video-requests.ts';
import { testKey } from '../support/gateway.ts';
import { startVideoUpstream, videoConfig } from '../support/video-upstream.ts';
import { startClockedGateway } from './wall-clock.ts';

/* The budget of a team's day has room for one video of five seconds at 0.10 USD. */

interface Window {
  readonly window: string;
  readonly used: string;
  readonly held: string;
}

async function dayOf(url: string): Promise<Window> {
  const headers = { authorization: `Bearer ${testKey}` };
  const body: unknown = await (await fetch(`${url}/v1/usage`, { headers })).json();
  return (body as { limits: { team: { daily: Window } } }).limits.team.daily;
}

test(
  'B-19 a video of yesterday is held and charged, or given back, in the budget of yesterday',
  { timeout: 60_000 },
  async () => {
    const upstream = await startVideoUpstream();
    // Midnight of Shanghai.
    const midnight = Date.parse('2026-05-20T16:00:00Z');
    const before = midnight - 30_000;
    const { url, database, stepTo, close } = await startClockedGateway({
      time: before,
      config: videoConfig(
        upstream.url,
        `
users: [{ email: tester@example.com }]
teams: [{ name: crew, balance: 100, time_zone: Asia/Shanghai, budget: { daily: 0.5 }, members: [{ user: tester@example.com }] }]
keys: [{ name: test, user: tester@example.com, team: crew, secret: ${testKey} }]
`,
      ),
    });
    const submit = () => submitVideo(url, synthesis);
    const first = await submit();
    expect(first.status).toBe(200);
    const refused = await submit();
    expect([refused.status, refused.json['message']]).toEqual([
      429,
      expect.stringContaining('team daily budget exceeded'),
    ]);
    expect(await dayOf(url)).toMatchObject({ window: '2026-05-20', used: '0', held: '0.5' });

    await stepTo(midnight + 1_000);
    expect(await dayOf(url)).toMatchObject({ window: '2026-05-21', used: '0', held: '0' });
    // Its own day has room, whatever is still held for yesterday.
    const second = await submit();
    expect(second.status).toBe(200);
    expect((await submit()).status).toBe(429);
    expect(await dayOf(url)).toMatchObject({ held: '0.5' });

    upstream.end({ status: 'succeeded', usage: 5 });
    for (const { json } of [first, second]) await awaitEnd(url, synthesis, synthesis.idOf(json));
    expect(await dayOf(url)).toMatchObject({ window: '2026-05-21', used: '0.5', held: '0' });
    const rows = await database.kysely
      .selectFrom('usage')
      .select(['cost', 'budget_window'])
      .where('outcome', '=', 'completed')
      .orderBy('time')
      .execute();
    expect(rows).toEqual([
      { cost: 500_000_000n, budget_window: '2026-05-20' },
      { cost: 500_000_000n, budget_window: '2026-05-21' },
    ]);

    // One of the next day, which fails.
    await stepTo(midnight + 86_400_000 + 1_000);
    const third = await submit();
    expect(third.status).toBe(200);
    await stepTo(midnight + 2 * 86_400_000 - 40_000);
    expect((await submit()).status).toBe(429);
    upstream.end({ status: 'failed' });
    await awaitEnd(url, synthesis, synthesis.idOf(third.json), 'failed');
    expect(await dayOf(url)).toMatchObject({ window: '2026-05-22', used: '0', held: '0' });
    expect((await submit()).status).toBe(200);
    await close();
  },
);
