import type { Journal } from '#journal/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';

type Part = Pick<Journal, 'append' | 'begin' | 'usable'>;

/** The journal, and somebody who hears of each record that is durable. Nobody waits for them. */
export function watchRecords(journal: Part, listener: (record: ExchangeRecord) => void): Part {
  return {
    append(record) {
      const done = journal.append(record);
      done.then(
        () => listener(record),
        () => {},
      );
      return done;
    },
    begin: (intent) => journal.begin(intent),
    get usable() {
      return journal.usable;
    },
  };
}
