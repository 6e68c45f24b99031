import { useCallback, useState } from 'react';

/** The width of an element in whole pixels, and the reference that measures it. */
export function useWidth(
  initial: number,
): readonly [number, (element: Element | null) => (() => void) | undefined] {
  const [width, setWidth] = useState(initial);
  const measure = useCallback((element: Element | null) => {
    if (element === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.max(240, Math.floor(entry.contentRect.width)));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [width, measure];
}
