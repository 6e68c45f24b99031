import { Link } from '@tanstack/react-router';
import { defaultRange, ranges, type Range } from '../app/range.ts';
import { useWords } from '../words/index.ts';

/** Chooses the time range of a page. */
export function RangeSegments({ range }: { readonly range: Range }) {
  const say = useWords();
  return (
    <nav className="segments" aria-label={say('range.label')}>
      {(Object.keys(ranges) as Range[]).map((name) => (
        <Link
          key={name}
          to="."
          search={({ range: _range, open: _open, ...rest }: Record<string, unknown>) => ({
            ...rest,
            ...(name !== defaultRange && { range: name }),
          })}
          activeOptions={{ exact: true }}
          aria-current={name === range ? 'true' : undefined}
        >
          {say(`range.${name}`)}
        </Link>
      ))}
    </nav>
  );
}
