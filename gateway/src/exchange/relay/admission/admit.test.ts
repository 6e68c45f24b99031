import { describe, expect, test, vi } from 'vitest';
import type { Hold, Order } from '#billing/index.ts';
import type { CatalogueSnapshot, Model } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';
import { admitExchange } from './admit.ts';
import { ClientGone, type ExchangeInput, type ExchangeParts, openExchange } from '../exchange.ts';
import type { CheckedRequest, Operation } from '../operation.ts';

/* With an operation of its own: what is done around every operation knows none of those that there are. */

const model = {
  id: 'm',
  type: 'chat',
  enabled: true,
  price: { input: '1', output: '2' },
  priceVersion: 'v1',
} as Model;

interface Setting {
  readonly operation?: Partial<Operation<ExchangeInput, CheckedRequest, string>>;
  readonly model?: Partial<Model>;
  readonly input?: Partial<ExchangeInput>;
  readonly journalUsable?: boolean;
  readonly isOutdated?: boolean;
  readonly hold?: (order: Order) => Hold | Promise<Hold>;
}

function setUp(setting: Setting = {}) {
  const rows: ExchangeRecord[] = [];
  const steps: string[] = [];
  const committed: unknown[] = [];
  const step = <Value>(name: string, value: Value): Value => {
    steps.push(name);
    return value;
  };
  const held = { amount: 5n } as Hold;
  const known = { ...model, ...setting.model };
  const snapshot = {
    models: new Map([[known.id, known]]),
    aliases: new Map(),
    aliasPatterns: [],
    unusedModels: new Set(),
    groups: new Map([['default', { name: 'default', priceMultiplier: '1' }]]),
    channels: [],
    routes: new Map(),
  } as unknown as CatalogueSnapshot;
  const parts = {
    snapshot: () => snapshot,
    journal: {
      usable: setting.journalUsable ?? true,
      unpaidFor: () => null,
      append: (record: ExchangeRecord) => Promise.resolve(void rows.push(record)),
    },
    revisions: { isOutdated: setting.isOutdated ?? false },
    billing: {
      isFree: () => false,
      hold: (order: Order) => step('hold', setting.hold?.(order) ?? held),
      commitHold: (hold: Hold, charge: unknown) => void committed.push([hold, charge]),
    },
    timeouts: { total: 1_000 },
    clock: { now: () => 0, monotonic: () => 0 },
    observer: { finished: () => {} },
    digestBody: () => '',
    onUnexpectedError: vi.fn<(error: unknown, id: string) => void>(),
  } as unknown as ExchangeParts;
  const operation: Operation<ExchangeInput, CheckedRequest, string> = {
    modelType: 'chat',
    isFree: false,
    mayStream: false,
    open: () =>
      step('open', {
        model: 'm',
        check: (_exchange, resolvedModel) => step('check', { resolvedModel }),
      }),
    bound: () => step('bound', []),
    prepare: () => step('prepare', 'prepared'),
    answer: () => Promise.resolve(),
    ...setting.operation,
  };
  const exchange = openExchange(parts, {
    id: 'req_1',
    arrivedAt: 0,
    startedAt: 0,
    caller: { group: 'default', models: null },
    pendingRateCheck: null,
    operation: 'generate',
    body: Buffer.alloc(0),
    pathModel: null,
    pathStream: null,
    client: { failedWith: null },
    headers: {},
    ...setting.input,
  } as unknown as ExchangeInput);
  return {
    rows,
    steps,
    committed,
    held,
    parts,
    exchange,
    run: () => admitExchange(parts, operation, exchange),
  };
}

const nameOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'admitted',
    (error: unknown) => (error instanceof GatewayError ? error.errorName : String(error)),
  );

describe('admission of a request', () => {
  test('runs the steps of its operation in their order', async () => {
    const { run, steps, exchange, held, rows } = setUp();
    expect(await run()).toMatchObject({ prepared: 'prepared' });
    expect(steps).toEqual(['open', 'check', 'hold', 'prepare']);
    expect(exchange.hold).toBe(held);
    expect(rows).toEqual([]);
  });

  test('holds what the operation says at most', async () => {
    const rates = {} as Parameters<Order['bound']>[0];
    const lines = [{ rate: {} as never, quantity: 7n }];
    const bound = vi.fn<Operation['bound']>(() => lines);
    let asked: unknown;
    const { run } = setUp({
      operation: { bound },
      hold(order) {
        asked = order.bound(rates);
        return {} as Hold;
      },
    });
    await run();
    expect(asked).toBe(lines);
    expect(bound.mock.calls[0]?.[2]).toBe(rates);
  });

  test('an operation that is not free needs a hold, whatever it is called', async () => {
    const refuse = () => {
      throw new GatewayError('insufficient_balance');
    };
    const input = { operation: 'embed' } as const;
    expect(await nameOf(setUp({ hold: refuse, input }).run())).toBe('insufficient_balance');
    expect(await nameOf(setUp({ journalUsable: false, input }).run())).toBe('unavailable');
  });

  test('without a database for this program what costs something is refused', async () => {
    expect(await nameOf(setUp({ isOutdated: true }).run())).toBe('outdated');
  });

  test('a free operation holds nothing, and needs no journal and no database', async () => {
    const { run, steps } = setUp({
      operation: { isFree: true },
      journalUsable: false,
      isOutdated: true,
    });
    expect(await run()).toMatchObject({ prepared: 'prepared' });
    expect(steps).not.toContain('hold');
  });

  test.each<[string, Setting]>([
    ['model_not_available', { model: { id: 'other' } }],
    ['model_not_available', { model: { type: 'image', price: { imageTiers: [] } } }],
    ['model_not_available', { operation: { modelType: 'video' } }],
    ['model_disabled', { model: { enabled: false } }],
    ['model_unpriced', { model: { price: { input: '1' } } }],
    ['model_unpriced', { model: { price: null } }],
    [
      'model_not_allowed',
      { input: { caller: { group: 'default', models: new Set(['x']) } as never } },
    ],
  ])('%s: nothing more of the body is read, and nothing is held', async (error, setting) => {
    const { run, steps, rows } = setUp(setting);
    expect(await nameOf(run())).toBe(error);
    expect(steps).toEqual(['open']);
    expect(rows).toMatchObject([{ outcome: 'refused', error, charge: null, attempts: [] }]);
  });

  test('a refusal after the hold gives it back', async () => {
    const { run, committed, held, rows } = setUp({
      operation: {
        prepare() {
          throw new GatewayError('client_not_allowed');
        },
      },
    });
    expect(await nameOf(run())).toBe('client_not_allowed');
    expect(committed).toEqual([[held, null]]);
    expect(rows).toMatchObject([{ outcome: 'refused', status: 403 }]);
  });

  test('a client that is gone leaves a row and no response', async () => {
    const { run, rows } = setUp({ operation: { open: () => Promise.reject(new ClientGone()) } });
    expect(await run()).toBeNull();
    expect(rows).toMatchObject([{ outcome: 'client-left', status: 499 }]);
  });

  test('a refusal of the rates comes before any other and leaves no row', async () => {
    const refusal = new GatewayError('rate_limited');
    const input = { pendingRateCheck: Promise.resolve(refusal) };
    const failing = setUp({
      input,
      operation: {
        open() {
          throw new GatewayError('invalid_body');
        },
      },
    });
    expect(await nameOf(failing.run())).toBe('rate_limited');
    const asking = vi.fn<() => Promise<CheckedRequest>>();
    const { run, rows, steps } = setUp({ input });
    expect(await nameOf(run())).toBe('rate_limited');
    expect(steps).toEqual(['open', 'check']);
    expect(await nameOf(setUp({ input, operation: { authorize: asking } }).run())).toBe(
      'rate_limited',
    );
    expect(asking).not.toHaveBeenCalled();
    expect([...rows, ...failing.rows]).toEqual([]);
  });

  test('what authorization finds goes into the routes', async () => {
    const found = { resolvedModel: {} } as CheckedRequest;
    const prepare = vi.fn<Operation<ExchangeInput, CheckedRequest, string>['prepare']>(() => 'x');
    const authorize = () => Promise.resolve(found);
    await setUp({ operation: { authorize, prepare } }).run();
    expect(prepare.mock.calls[0]?.[2]).toBe(found);
  });

  describe('for a model of another type', () => {
    const setting = { model: { type: 'image' } } as Setting;

    test('is the matter of the operation that serves it instead, from its opening on', async () => {
      const seen: string[] = [];
      const other = {
        modelType: 'image',
        isFree: false,
        mayStream: true,
        open: () => ({
          model: '',
          check: (_: unknown, resolvedModel: unknown) => ({ resolvedModel }),
        }),
        bound: () => [],
        prepare: () => 'pictures',
        answer: () => Promise.resolve(),
      } as unknown as Operation;
      const instead = (_input: unknown, type: string): Operation => {
        seen.push(type);
        return other;
      };
      const { run, steps } = setUp({ ...setting, operation: { instead } });
      expect(await run()).toEqual({ operation: other, prepared: 'pictures' });
      expect(new Set(seen)).toEqual(new Set(['image']));
      expect(steps).toEqual(['open', 'hold']);
    });

    test.each([{}, { instead: () => null }])('is refused where none does', async (operation) => {
      expect(await nameOf(setUp({ ...setting, operation }).run())).toBe('model_not_available');
    });
  });
});
