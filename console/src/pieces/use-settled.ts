import { useEffect, useState } from 'react';

/** Long enough that a word is not asked for letter by letter. Milliseconds. */
const pause = 200;

/** The value as it was when it had stayed the same for a moment. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
