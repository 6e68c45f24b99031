const second = 1_000;

/** When holds expire: exact to a second and never early, without a timer for each. Times are milliseconds of one clock. */
export interface Expiry {
  add(id: string, time: number): void;
  /** Forgets a hold that has ended. Does nothing for an unknown one. */
  remove(id: string): void;
  /** Calls back for each hold that is due, once. */
  sweep(now: number, expire: (id: string) => void): void;
}

export function createExpiry(now: number): Expiry {
  const bySecond = new Map<number, Set<string>>();
  const dueOf = new Map<string, Set<string>>();
  let swept = Math.floor(now / second);
  return {
    add(id, time) {
      const at = Math.max(Math.ceil(time / second), swept + 1);
      let due = bySecond.get(at);
      if (due === undefined) bySecond.set(at, (due = new Set()));
      due.add(id);
      dueOf.set(id, due);
    },
    remove(id) {
      dueOf.get(id)?.delete(id);
      dueOf.delete(id);
    },
    sweep(time, expire) {
      const until = Math.floor(time / second);
      if (bySecond.size === 0) swept = Math.max(swept, until);
      for (; swept < until; swept += 1) {
        const due = bySecond.get(swept + 1);
        if (due === undefined) continue;
        bySecond.delete(swept + 1);
        for (const id of due) {
          dueOf.delete(id);
          expire(id);
        }
      }
    },
  };
}
