import { useMemo } from 'react';
import { defaultRange, spanOf, type RangeSearch, type Span } from './range.ts';

/** The span of time in the address. The beginning stays the same until the range changes. */
export function useSpan({ range = defaultRange, from, to, tz }: RangeSearch): Span {
  return useMemo(() => {
    const span = spanOf({
      range,
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(tz !== undefined && { tz }),
    });
    const end = span.to === undefined ? Date.now() : Date.parse(span.to);
    return {
      ...span,
      length: end - Date.parse(span.from),
      name: [range, span.from, span.to, tz].join(' '),
    };
  }, [range, from, to, tz]);
}
