import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { type DeclaredPrice, normalPrice } from '#config/index.ts';
import { findVendor } from '#vendors/index.ts';
import { buildSnapshot } from './build-snapshot.ts';
import { bundledModels, bundledModelsOf } from './bundled.ts';
import { bundledAt } from './bundled/entry.ts';
import { isPriced } from './prices.ts';

const { models } = buildSnapshot(
  { groups: [], channels: [], models: [], aliases: [] },
  { revision: 1, simulatorUrl: null, previous: null, onProblem: ({ name }) => expect.fail(name) },
);
const priced = bundledModels.flatMap(({ id, type, price }) =>
  price === null ? [] : [{ id, type, price }],
);
const text = (part: keyof DeclaredPrice, price: DeclaredPrice) => Number(price[part] ?? Number.NaN);

test('a channel of Ark has the names of its default address', () => {
  const names = bundledModelsOf('ark').map(({ id }) => id);
  expect(names).toContain('doubao-seedream-4-0-250828');
  expect(names.filter((id) => !id.startsWith('doubao-'))).toEqual([]);
  expect(models.get('seedream-4-0-250828')?.price).toEqual(
    models.get('doubao-seedream-4-0-250828')?.price,
  );
});

/** What reading from the cache costs, in parts of the input's price, where it is not a tenth. */
const cheaperReads: Readonly<Record<string, number>> = {
  'claude-opus-5-5': 0.05,
  'claude-sonnet-5-5': 0.05,
  'claude-fable-5-1': 0.025,
  'claude-fable-5-2': 0.025,
};

describe('the vendor knows its bundled models', () => {
  const chat = bundledModelsOf('openai').filter(({ type }) => type === 'chat');
  const { textProtocolsOf, traitsOf } = findVendor('openai')!;

  it.each(chat)('$id: those that reason get converted requests in responses', (model) => {
    const reasons = model.capabilities.includes('reasoning');
    const others = model.id.startsWith('gpt-audio') ? ['chat'] : ['chat', 'responses'];
    expect(textProtocolsOf?.(model.id)).toEqual(reasons ? ['responses', 'chat'] : others);
    const { efforts, leastEffort } = traitsOf!(model.id, '');
    if (reasons) expect([efforts[0], efforts.includes('medium')]).toEqual([leastEffort, true]);
    else expect(leastEffort).toBeNull();
  });
});

describe('bundled prices', () => {
  it('have the date of the documentation', () => {
    const page = readFileSync(new URL('../../../../docs/billing.md', import.meta.url), 'utf8');
    const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
    expect(page).toContain(`was checked on ${date.format(Date.parse(bundledAt))}`);
  });

  it.each(priced)('of $id are complete, in normal form, and plausible', ({ id, type, price }) => {
    const model = models.get(id);
    expect(model !== undefined && isPriced(model)).toBe(true);
    expect(normalPrice(price)).toEqual(price);
    if (type !== 'chat') return;
    if (price?.cacheRead !== undefined) {
      expect(text('cacheRead', price)).toBeLessThan(text('input', price));
    }
    expect(text('output', price)).toBeGreaterThan(text('input', price));
    expect(text('output', price)).toBeLessThanOrEqual(100);
    // Whoever pays for a model should know how much of it there is: holds and judgements count on it.
    expect(model?.contextWindow).toBeGreaterThan(0);
    expect(model?.maxOutputTokens).toBeGreaterThan(0);
  });

  it.each(bundledModelsOf('anthropic').filter(({ price }) => price !== null))(
    'of $id are multiples of its input price',
    ({ id, price }) => {
      const input = text('input', price ?? {});
      expect(text('cacheRead', price ?? {})).toBeCloseTo((cheaperReads[id] ?? 0.1) * input, 9);
      expect(text('cacheWrite', price ?? {})).toBeCloseTo(1.25 * input, 9);
      expect(text('cacheWrite1h', price ?? {})).toBeCloseTo(2 * input, 9);
    },
  );

  it('of the demo are above zero in every part', () => {
    const demo = bundledModelsOf('simulator');
    expect(demo.length).toBeGreaterThan(0);
    for (const { id, price } of demo) {
      expect(price, id).not.toBeNull();
      for (const decimal of JSON.stringify(price).match(/"[\d.]+"/g) ?? ['0']) {
        expect(Number(decimal.slice(1, -1)), id).toBeGreaterThan(0);
      }
    }
  });
});
