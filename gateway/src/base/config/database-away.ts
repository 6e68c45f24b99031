import { z } from 'zod';
import { mapping } from './collection.ts';
import { decimal, leafFacts, usd } from './leaf.ts';
import { Scalar } from './scalar.ts';

/** What a payer may spend without a lease while the database is unreachable, in USD. `refuse`, or a missing one: '0'. */
export const databaseAway = () =>
  z
    .preprocess(
      (input) => (input instanceof Scalar && input.value === 'refuse' ? undefined : input),
      mapping({ up_to: decimal('an amount in USD', usd, { fallback: '0' }) }),
    )
    .register(leafFacts, { write: writeDatabaseAway });

/** The same as a file has it. */
export const writeDatabaseAway = ({ upTo }: { readonly upTo: string }) =>
  upTo === '0' ? 'refuse' : { up_to: upTo };
