/**
 * Keeps a map as small as its entries in use, without timers: each call checks a few entries in turn and removes idle
 * ones. If it is called for at least one entry more than was added since, it gets round the map faster than the map
 * grows.
 */
export function createForgetting<Value>(
  map: Map<string, Value>,
  isIdle: (value: Value, key: string) => boolean,
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
      if (isIdle(value, key)) map.delete(key);
    }
  };
}
