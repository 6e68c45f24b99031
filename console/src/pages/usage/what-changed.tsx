import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { read } from '../../api/client.ts';
import { addDays, dayOf, startOfDay, type Day } from '../../app/days.ts';
import type { Span } from '../../app/range.ts';
import { exact, plus, toText } from '../../format/exact.ts';
import { useFormats } from '../../format/numbers.ts';
import { Money } from '../../pieces/money.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { groupName, requestsOf, type Sum, type Sums } from '../../pieces/sums/sums.ts';
import { Table } from '../../pieces/table.tsx';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';

/** Whose cost can jump. A request counts for its key, its model and its person. */
const compared = ['key', 'model', 'user'] as const;
export type Compared = (typeof compared)[number];

interface Change {
  readonly dimension: Compared;
  readonly name: string;
  readonly now: Sum | undefined;
  readonly before: Sum | undefined;
  /** Decimal text in USD. */
  readonly difference: string;
}

/** So many names of each dimension are compared, the dearest of each span. */
const mostNames = '200';
const mostShown = 20;
const hour = 3_600_000;

/** The first and the last day. */
type Days = readonly [first: Day, last: Day];

interface Props {
  readonly span: Span;
  readonly filter: string;
  /** In which days begin. */
  readonly zone: string;
  /** Days to compare with; null: the span before, of the same length. */
  readonly against: Days | null;
  readonly onAgainst: (days: Days | null) => void;
}

/** Which key, model or person is behind a change of the cost: this span against another one. */
export function WhatChanged({ span, filter, zone, against, onAgainst }: Props) {
  const say = useWords();
  const formats = useFormats();
  const from = Date.parse(span.from);
  // Sums know whole hours only: as many before as in the span.
  const length = Math.ceil(span.length / hour) * hour;
  const startOf = (day: Day) => new Date(startOfDay(day, zone)).toISOString();
  const other =
    against === null
      ? { from: new Date(Math.max(0, from - length)).toISOString(), to: span.from }
      : { from: startOf(against[0]), to: startOf(addDays(against[1], 1)) };
  const spans = [{ from: span.from, ...(span.to !== undefined && { to: span.to }) }, other];
  const chosenDays: Days = against ?? [
    dayOf(Date.parse(other.from), zone),
    dayOf(Date.parse(other.to) - 1, zone),
  ];
  const queries = compared.flatMap((by) =>
    spans.map((range) => ({
      ...(filter !== '' && { filter }),
      ...range,
      by,
      metric: 'cost' as const,
      first: mostNames,
    })),
  );
  const results = useQueries({
    queries: queries.map((query) => ({
      queryKey: ['sums', query],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        read<'sumUsage'>('/usage/sums', query, signal),
    })),
  });
  const failed = results.find(({ isError }) => isError);
  if (failed !== undefined) {
    return (
      <ErrorState
        error={failed.error}
        onRetry={() => {
          for (const each of results) void each.refetch();
        }}
      />
    );
  }
  const sums = results.flatMap(({ data }) => data ?? []);
  const [now, before] = sums;
  if (sums.length < queries.length || now === undefined || before === undefined) {
    return <Skeleton rows={6} />;
  }
  const changes = compared
    .flatMap((dimension, at) => changesOf(dimension, sums[2 * at]!, sums[2 * at + 1]!))
    .filter(({ difference }) => Number(difference) !== 0)
    .toSorted((a, b) => Math.abs(Number(b.difference)) - Math.abs(Number(a.difference)))
    .slice(0, mostShown);
  return (
    <section className={styles['table']} aria-label={say('explore.whatChanged')}>
      <h2 className="title">
        {say('explore.whatChanged')}{' '}
        <span className="quiet">
          {say('explore.againstBefore', {
            span: formats.span(before.from, before.to),
            before: formats.amount(Number(before.cost)),
            now: formats.amount(Number(now.cost)),
          })}
        </span>
      </h2>
      <div className={styles['choices']}>
        {(['from', 'to'] as const).map((end, at) => (
          <DayField
            key={end}
            name={say(`explore.against.${end}`)}
            day={chosenDays[at] ?? ''}
            latest={dayOf(Date.now(), zone)}
            onChange={(day) => {
              const [first, last] = end === 'from' ? [day, chosenDays[1]] : [chosenDays[0], day];
              // The other end follows one that passes it.
              onAgainst(first <= last ? [first, last] : [day, day]);
            }}
          />
        ))}
        {against !== null && (
          <button type="button" className="button" onClick={() => onAgainst(null)}>
            {say('explore.against.before')}
          </button>
        )}
      </div>
      {changes.length === 0 ? (
        <p className="state">{say('explore.noChange')}</p>
      ) : (
        <Table
          label={say('explore.whatChanged')}
          heads={[
            say('explore.what'),
            say('explore.name'),
            [say('explore.before'), 'number less'],
            [say('explore.now'), 'number less'],
            [say('explore.metrics.requests'), 'number less'],
            [say('explore.perRequest'), 'number less'],
            [say('explore.difference'), 'number'],
          ]}
        >
          {changes.map((change) => (
            <ChangeRow
              key={`${change.dimension} ${change.name}`}
              change={change}
              range={now}
              filter={filter}
            />
          ))}
        </Table>
      )}
    </section>
  );
}

/** Years before this one are being typed. */
const earliest = '2000-01-01';

function DayField({
  name,
  day,
  latest,
  onChange,
}: {
  readonly name: string;
  readonly day: Day;
  readonly latest: Day;
  readonly onChange: (day: Day) => void;
}) {
  /** Null: it is the day. */
  const [text, setText] = useState<string | null>(null);
  return (
    <label className={styles['choice']}>
      <span>{name}</span>
      <input
        type="date"
        className="input"
        required
        min={earliest}
        max={latest}
        value={text ?? day}
        onChange={({ target: { value, validity } }) => {
          setText(validity.valid ? null : value);
          if (validity.valid) onChange(value);
        }}
        onBlur={() => setText(null)}
      />
    </label>
  );
}

function ChangeRow({
  change: { dimension, name, now, before, difference },
  range,
  filter,
}: {
  readonly change: Change;
  readonly range: Pick<Sums, 'from' | 'to'>;
  readonly filter: string;
}) {
  const say = useWords();
  const formats = useFormats();
  const search = requestsOf([{ dimension, name }], range, filter);
  const text = groupName(dimension, name, 0, say);
  const isMore = !difference.startsWith('-');
  const perRequest = (sum: Sum | undefined) =>
    sum === undefined || sum.requests === 0 ? 0 : Number(sum.cost) / sum.requests;
  return (
    <tr>
      <td className="second">{say(`explore.dimensions.${dimension}`)}</td>
      <td>
        {search === null ? (
          text
        ) : (
          <Link className="link" to="/requests" search={search}>
            {text}
          </Link>
        )}
      </td>
      <td className="number less">
        {before === undefined ? '–' : <Money amount={before.cost} width={4} />}
      </td>
      <td className="number less">
        {now === undefined ? '–' : <Money amount={now.cost} width={4} />}
      </td>
      <td className="number less second">
        {before === undefined
          ? say('explore.isNew')
          : now === undefined
            ? say('explore.isGone')
            : formats.change(now.requests, before.requests)}
      </td>
      <td className="number less second">
        {before === undefined || now === undefined
          ? '–'
          : formats.change(perRequest(now), perRequest(before))}
      </td>
      <td className="number strong">
        {isMore && '+'}
        <Money amount={difference} width={4} />
      </td>
    </tr>
  );
}

/** What each name of a dimension costs more or less than before. */
function changesOf(dimension: Compared, now: Sums, before: Sums): Change[] {
  const byName = (sums: Sums) =>
    new Map(sums.data.flatMap((sum) => (sum.name === null ? [] : [[sum.name, sum] as const])));
  const [present, past] = [byName(now), byName(before)];
  return [...new Set([...present.keys(), ...past.keys()])].map((name) => {
    const [a, b] = [present.get(name), past.get(name)];
    const earlier = exact(b?.cost ?? '0');
    const difference = plus(exact(a?.cost ?? '0'), {
      digits: -earlier.digits,
      places: earlier.places,
    });
    return { dimension, name, now: a, before: b, difference: toText(difference) };
  });
}
