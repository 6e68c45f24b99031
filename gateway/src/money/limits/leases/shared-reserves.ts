import type { LeaseWork } from './lease-work.ts';
import type { Pace, Reserve } from './pace.ts';

/** The other workers of this node. Any of them may get the next request of a payer whom this one serves. */
export interface Peers {
  send(reserves: readonly Reserve[]): void;
  /** Calls back with what another worker has sent. */
  listen(listener: (reserves: readonly Reserve[]) => void): void;
}

const everyMs = 5_000;
const mostAtOnce = 1_000;

/** Names the payers of this process to the other workers, and keeps reserves for theirs. */
export function shareReserves({
  peers,
  pace,
  work,
}: {
  readonly peers: Peers;
  readonly pace: Pace;
  readonly work: LeaseWork;
}): { close(): void } {
  const timer = setInterval(() => {
    const reserves = pace.takeReserves(mostAtOnce);
    if (reserves.length > 0) peers.send(reserves);
  }, everyMs).unref();
  peers.listen((reserves) => {
    for (const reserve of reserves) pace.expect(reserve);
    if (!work.isClosed) work.fillUp(reserves);
  });
  return { close: () => clearInterval(timer) };
}
