import { expect, test } from 'vitest';
import { createLookUp } from './from-database.ts';

test('S-09 cookies that somebody made up never occupy more than two connections of the database', async () => {
  const lookUp = createLookUp();
  const answer = Promise.withResolvers<null>();
  let asked = 0;
  const flood = Array.from({ length: 300 }, () =>
    lookUp(() => {
      asked += 1;
      return answer.promise;
    }).catch((error: { code: string }) => error.code),
  );
  await expect(flood.at(-1)).resolves.toBe('too_many');
  expect(asked).toBe(2);
  answer.resolve(null);
  const results = await Promise.all(flood);
  expect(results.filter((each) => each === null)).toHaveLength(202);
  expect(results.filter((each) => each === 'too_many')).toHaveLength(98);
});

test('nobody asks a database that its breaker shuts off', async () => {
  const lookUp = createLookUp(() => Promise.reject(new Error('open')));
  let asked = 0;
  const ask = () => Promise.resolve((asked += 1));
  await expect(lookUp(ask)).rejects.toMatchObject({ code: 'database_away', retryAfter: 2 });
  expect(asked).toBe(0);
});
