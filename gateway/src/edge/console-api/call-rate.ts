import { ApiError } from './errors.ts';

const most = 10;
const spanMs = 60_000;

/**
 * How often a person or a program may do what costs the gateway much, or sends requests from its address.
 * @param what such as `tests`, for the refusal
 * @returns a function that counts a call of the person or admin key with this id, and throws ApiError `too_many`
 */
export function createCallRate(what: string, now: () => number): (callerId: string) => void {
  /** When the last calls were, at most `most` each. */
  const timesByCaller = new Map<string, number[]>();
  return (callerId) => {
    const time = now();
    for (const [caller, times] of timesByCaller) {
      if ((times.at(-1) ?? 0) <= time - spanMs) timesByCaller.delete(caller);
    }
    const times = (timesByCaller.get(callerId) ?? []).filter((at) => at > time - spanMs);
    if (times.length >= most) {
      const retryAfter = Math.ceil(((times[0] ?? time) + spanMs - time) / 1_000);
      throw new ApiError('too_many', `ten ${what} a minute are allowed`, { retryAfter });
    }
    timesByCaller.set(callerId, [...times, time]);
  };
}
