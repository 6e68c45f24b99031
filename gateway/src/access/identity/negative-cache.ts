/**
 * Remembers missing names for a while, in bounded memory: at the bound the oldest entry goes. All entries live equally
 * long, so insertion order is the order of expiry.
 */
export function createNegativeCache(options: { readonly lifetime: number; readonly max: number }) {
  const expiries = new Map<string, number>();
  return {
    /** @param now milliseconds of a monotonic clock */
    has(key: string, now: number): boolean {
      const expiry = expiries.get(key);
      if (expiry === undefined) return false;
      if (now < expiry) return true;
      expiries.delete(key);
      return false;
    },
    add(key: string, now: number): void {
      expiries.delete(key);
      if (expiries.size >= options.max) expiries.delete(expiries.keys().next().value ?? '');
      expiries.set(key, now + options.lifetime);
    },
    get size() {
      return expiries.size;
    },
  };
}
