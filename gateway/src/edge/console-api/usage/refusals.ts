import { ApiError } from '../errors.ts';

/** A range that is too long for what is asked of it. */
export function tooLong(message: string): ApiError {
  return new ApiError('invalid', `from: ${message}`, { fields: [{ path: 'from', message }] });
}

/** A time zone whose days begin in the middle of an hour of UTC. */
export function brokenHours(timeZone: string): ApiError {
  const message = `days of ${timeZone} begin in the middle of an hour of UTC, and sums have whole hours only: ask for hours, or for the days of UTC`;
  return new ApiError('invalid', `tz: ${message}`, { fields: [{ path: 'tz', message }] });
}

/** A cursor that no list has given out. @throws whatever else it is */
export function asInvalid(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  const { message } = error;
  const fields = [{ path: 'cursor', message: message.replace('cursor: ', '') }];
  throw new ApiError('invalid', message, { fields });
}
