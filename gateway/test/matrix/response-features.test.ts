import { describe, expect, test } from 'vitest';
import { responseFeatures } from './response-features/index.ts';
import { giveResponse, outcomeOf } from './response-features/run.ts';
import { describeSections, type Section, toldAndWhy } from './features/document.ts';
import { assertWritten } from '../support/written-page.ts';
import { protocolNames } from './gateway.ts';

const upstreams = protocolNames.map((upstream) => {
  const clients = protocolNames.filter((name) => name !== upstream);
  const rows = responseFeatures
    .filter(({ of }) => of[upstream] !== undefined)
    .map((feature) => {
      const outcomes = clients.map((client) => outcomeOf(feature, upstream, client));
      return { name: feature.name, feature, outcomes };
    });
  return { upstream, clients, rows };
});

describe.each(upstreams)('a response of $upstream', ({ upstream, clients, rows }) => {
  test('a plain one loses nothing', () => {
    for (const client of clients) {
      const { whole, streamed } = giveResponse(upstream, client);
      expect(whole?.losses).toEqual([]);
      expect(streamed.losses).toEqual([]);
    }
  });

  test.each(rows)('$name: each loss is reported once', ({ feature, outcomes }) => {
    const things = feature.of[upstream]?.things ?? 1;
    for (const { streamed } of outcomes) {
      expect(streamed.how).not.toBe('lost in silence');
      expect(streamed.how).not.toBe('untrue');
      expect(streamed.told).not.toBe('');
      const isLost = streamed.how === 'dropped' || streamed.how === 'approximated';
      expect(streamed.losses).toHaveLength(isLost ? things : 0);
    }
  });

  test.each(rows)('$name: is the same whole and streamed', ({ outcomes }) => {
    for (const { whole, streamed } of outcomes) expect(whole ?? streamed).toEqual(streamed);
  });

  test('each feature is named once', () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });
});

test.each(responseFeatures)('$name: has a reason where it is lost', (feature) => {
  const all = upstreams.flatMap(({ rows }) => rows).filter((row) => row.feature === feature);
  const hows = all.flatMap(({ outcomes }) => outcomes.map(({ streamed }) => streamed.how));
  if (hows.some((how) => how !== 'carried')) expect(feature.why).toBeDefined();
  expect(hows.includes('ignored')).toBe(feature.harmless === true);
});

test('the published table matches the results', () => {
  assertWritten('converted-answers.md', describeSections(upstreams.map(sectionOf)));
});

function sectionOf({ upstream, clients, rows }: (typeof upstreams)[number]): Section {
  return {
    title: `From an upstream of ${upstream}`,
    columns: clients.map((client) => `to ${client}`),
    lines: rows.map(({ feature: { area, name, why }, outcomes }) => {
      const became = outcomes.map(({ streamed }) => streamed);
      const cells = became.map(({ how, told }) => (told === null ? how : `\`${told}\``));
      const names = became.flatMap(({ losses }) => losses.map(({ what }) => what));
      return { area, cells: [name, ...cells, toldAndWhy(names, why)] };
    }),
  };
}
