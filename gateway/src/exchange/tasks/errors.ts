import { GatewayError } from '#errors/index.ts';

/** The state of a task cannot be found out now. */
export const unavailable = (cause?: unknown): GatewayError =>
  new GatewayError('unavailable', { retryAfter: 1, ...(cause !== undefined && { cause }) });

/** Runs what needs the database. @throws GatewayError `unavailable` */
export async function orUnavailable<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof GatewayError ? error : unavailable(error);
  }
}
