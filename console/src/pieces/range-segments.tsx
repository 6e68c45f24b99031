import { Link, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useRef, useState } from 'react';
import { ownTimeZone } from '../app/days.ts';
import { defaultRange, ranges, type Range, type RangeSearch } from '../app/range.ts';
import { useFormats } from '../format/numbers.ts';
import { useWords } from '../words/index.ts';
import { Icon } from './icon.tsx';

/** Loads when it is opened. */
const Calendar = lazy(async () => ({ default: (await import('./calendar.tsx')).Calendar }));

type Search = Record<string, unknown>;

/** Chooses the time range of a page: a span that ends now, or days of a calendar, in a zone. */
export function RangeSegments({ range }: { readonly range: Range }) {
  const say = useWords();
  const formats = useFormats();
  const { from, to, tz = ownTimeZone }: RangeSearch = useSearch({ strict: false });
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const isBetween = from !== undefined && to !== undefined;
  const isUsual = Object.hasOwn(ranges, range) && !isBetween;
  const chosen = isBetween
    ? formats.span(from, to)
    : isUsual
      ? say('range.days')
      : say(`range.${range}`);
  return (
    <nav className="segments" aria-label={say('range.label')}>
      {(Object.keys(ranges) as (keyof typeof ranges)[]).map((name) => (
        <Link
          key={name}
          to="."
          search={({ range: _range, from: _from, to: _to, open: _open, ...rest }: Search) => ({
            ...rest,
            ...(name !== defaultRange && { range: name }),
          })}
          activeOptions={{ exact: true }}
          aria-current={isUsual && name === range ? 'true' : undefined}
        >
          {say(`range.${name}`)}
        </Link>
      ))}
      <button
        type="button"
        ref={button}
        aria-expanded={isOpen}
        aria-haspopup="dialog"
        data-chosen={!isUsual}
        title={say('range.zone', { zone: tz })}
        onClick={() => setOpen(!isOpen)}
      >
        {chosen}
        {tz !== ownTimeZone && <span className="quiet">{tz}</span>}
        <Icon name="down" size={12} />
      </button>
      {isOpen && (
        <Suspense>
          <Calendar anchor={button} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </nav>
  );
}
