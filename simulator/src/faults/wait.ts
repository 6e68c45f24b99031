import { setTimeout as sleep } from 'node:timers/promises';

/** Waits. Returns false as soon as the client disconnects. */
export async function wait(milliseconds: number, left: AbortSignal): Promise<boolean> {
  if (milliseconds > 0) {
    await sleep(milliseconds, undefined, { signal: left }).catch(() => undefined);
  }
  return !left.aborted;
}

/** Stays silent until the client disconnects. */
export async function waitForever(left: AbortSignal): Promise<void> {
  if (left.aborted) return;
  await new Promise<void>((resolve) => {
    left.addEventListener('abort', () => resolve(), { once: true });
  });
}
