import { describe, expect, test } from 'vitest';
import { assertWritten } from '../support/written-page.ts';
import { protocolNames } from './gateway.ts';
import { chat } from './features/chat.ts';
import { describeSections, type Section, toldAndWhy } from './features/document.ts';
import { generateContent } from './features/generate-content.ts';
import { messages } from './features/messages.ts';
import { responses } from './features/responses.ts';
import { convertRequest, outcomeOf, type Outcome } from './features/run.ts';

const clients = await Promise.all(
  [chat, responses, messages, generateContent].map(async (features) => {
    const upstreams = protocolNames.filter((name) => name !== features.client);
    const rows = features.features.map((feature) =>
      Promise.all(upstreams.map((upstream) => outcomeOf(features, feature, upstream))),
    );
    return { features, upstreams, rows: await Promise.all(rows) };
  }),
);

describe.each(clients)('a client of $features.client', ({ features, upstreams, rows }) => {
  test('loses nothing of a plain request', async () => {
    for (const upstream of upstreams) {
      const plain = await convertRequest(features.client, upstream, features.plain);
      expect(plain).toMatchObject({ losses: [] });
    }
  });

  test.each(rows.map((outcomes) => ({ name: outcomes[0]!.feature.name, outcomes })))(
    '$name: each loss is reported once, and has a reason',
    ({ outcomes }) => {
      for (const { feature, how, losses, param } of outcomes) {
        expect(how).not.toBe('lost in silence');
        if (how === 'refused') expect(param).not.toBe('');
        const isLost = how === 'dropped' || how === 'approximated';
        expect(losses.length > 0).toBe(isLost);
        expect(losses.length).toBeLessThanOrEqual(feature.things ?? 1);
      }
      const { why, harmless } = outcomes[0]!.feature;
      expect(why !== undefined).toBe(outcomes.some(({ how }) => how !== 'carried'));
      expect(harmless === true).toBe(outcomes.some(({ how }) => how === 'ignored'));
    },
  );

  test('names each feature once', () => {
    const names = features.features.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});

test('the published table matches the results', () => {
  assertWritten('conversion.md', describeSections(clients.map(sectionOf)));
});

function sectionOf({ features, upstreams, rows }: (typeof clients)[number]): Section {
  return {
    title: `A client of ${features.client}`,
    columns: upstreams.map((upstream) => `to ${upstream}`),
    lines: rows.map((outcomes) => {
      const { area, name, why } = outcomes[0]!.feature;
      const told = toldAndWhy(outcomes.flatMap(namesOf), why);
      return { area, cells: [name, ...outcomes.map(wordOf), told] };
    }),
  };
}

const wordOf = ({ how }: Outcome) => (how === 'refused' ? '400' : how);

const namesOf = ({ losses, param }: Outcome) => [
  ...losses.map(({ what }) => what),
  ...(param === '' ? [] : [param]),
];
