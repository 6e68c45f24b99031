/**
 * Keeps a map as large as what is in use, without timers: each call looks at a few entries, in turn, and removes the
 * idle ones. Called with at least one more than the entries added since, it gets round faster than the map grows.
 */
export function createForgetting<Value>(
  map: Map<string, Value>,
  isIdle: (value: Value) => boolean,
): (steps: number) => void {
  let entries = map.entries();
  return (steps) => {
    for (let step = 0; step < steps; step += 1) {
      const next = entries.next();
      if (next.done === true) {
        entries = map.entries();
        return;
      }
      const [key, value] = next.value;
      if (isIdle(value)) map.delete(key);
    }
  };
}
