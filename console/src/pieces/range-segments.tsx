import { Link, useSearch } from '@tanstack/react-router';
import { defaultRange, ranges, type Range, type RangeSearch } from '../app/range.ts';
import { useFormats } from '../format/numbers.ts';
import { useWords } from '../words/index.ts';

/** Chooses the time range of a page. One that was chosen in a chart stands before the usual ones. */
export function RangeSegments({ range }: { readonly range: Range }) {
  const say = useWords();
  const formats = useFormats();
  const { from, to }: RangeSearch = useSearch({ strict: false });
  const isBetween = from !== undefined && to !== undefined;
  return (
    <nav className="segments" aria-label={say('range.label')}>
      {isBetween && (
        <Link
          to="."
          search={({ from: _from, to: _to, open: _open, ...rest }: Record<string, unknown>) => rest}
          aria-current="true"
          title={say('range.whole')}
        >
          {formats.span(from, to)} ×
        </Link>
      )}
      {(Object.keys(ranges) as Range[]).map((name) => (
        <Link
          key={name}
          to="."
          search={({
            range: _range,
            from: _from,
            to: _to,
            open: _open,
            ...rest
          }: Record<string, unknown>) => ({
            ...rest,
            ...(name !== defaultRange && { range: name }),
          })}
          activeOptions={{ exact: true }}
          aria-current={name === range && !isBetween ? 'true' : undefined}
        >
          {say(`range.${name}`)}
        </Link>
      ))}
    </nav>
  );
}
