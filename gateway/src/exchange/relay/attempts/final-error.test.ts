import { expect, test } from 'vitest';
import { GatewayError } from '#errors/index.ts';
import { finalError, type Failure } from './final-error.ts';

const kinds: readonly Failure[] = [
  'abnormal',
  'credential-refused',
  'overloaded',
  'rate-limited',
  'model-missing',
  'state-missing',
];
const statusOf: Record<Failure, number> = {
  abnormal: 502,
  'credential-refused': 502,
  overloaded: 529,
  'rate-limited': 429,
  'model-missing': 400,
  'state-missing': 404,
};

const missing = new GatewayError('state_not_found', { values: { param: 'input' } });

test('R-07: one kind has its status, a mix is 503, over every mix of three attempts', () => {
  for (const a of kinds) {
    for (const b of kinds) {
      for (const c of kinds) {
        const [one, two, three] = [a, b, c].map((kind) =>
          kind === 'credential-refused' ? 'abnormal' : kind,
        );
        const same = one === two && two === three;
        expect(finalError([a, b, c], 4000, 'm', missing).entry.status).toBe(
          same ? statusOf[a] : 503,
        );
      }
    }
  }
});

test('R-06: the wait is given in whole seconds, at least one', () => {
  expect(finalError(['rate-limited'], 4001, 'm').retryAfter).toBe(5);
  expect(finalError(['rate-limited'], 1, 'm').retryAfter).toBe(1);
  expect(finalError(['rate-limited'], 4000, 'm').message).toBe(
    'quota exhausted, please retry later',
  );
});

test('where every credential is refused, the error says who has to act, and that another try is useless', () => {
  const { errorName, headers } = finalError(['credential-refused', 'credential-refused'], 0, 'm');
  expect([errorName, headers]).toEqual([
    'upstream_credential_refused',
    { 'x-should-retry': 'false' },
  ]);
  expect(finalError(['credential-refused', 'abnormal'], 0, 'm').errorName).toBe(
    'upstream_abnormal',
  );
});
