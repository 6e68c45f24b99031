import { ApiError } from '../errors.ts';

/** A range that is too long for what is asked of it. */
export function tooLong(message: string): ApiError {
  return new ApiError('invalid', `from: ${message}`, { fields: [{ path: 'from', message }] });
}

/** A cursor that no list has given out. @throws whatever else it is */
export function asInvalid(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  const { message } = error;
  const fields = [{ path: 'cursor', message: message.replace('cursor: ', '') }];
  throw new ApiError('invalid', message, { fields });
}
