const most = 10;
const spanMs = 60_000;

/** How often a person may test channels: each test is a request from the gateway's own address. */
export function createTestRate(now: () => number) {
  /** By user: when the last tests were, at most `most` each. */
  const timesByUser = new Map<string, number[]>();
  return {
    /** @returns seconds until the next one is allowed; 0: this one is */
    take(userId: string): number {
      const time = now();
      for (const [user, times] of timesByUser) {
        if ((times.at(-1) ?? 0) <= time - spanMs) timesByUser.delete(user);
      }
      const times = (timesByUser.get(userId) ?? []).filter((at) => at > time - spanMs);
      if (times.length >= most) return Math.ceil(((times[0] ?? time) + spanMs - time) / 1_000);
      timesByUser.set(userId, [...times, time]);
      return 0;
    },
  };
}
