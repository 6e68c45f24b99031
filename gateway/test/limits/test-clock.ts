/** A wall clock and a monotonic one, which only the test moves. */
export class TestClock {
  /** Unix milliseconds. */
  wall = 1_800_000_000_000;
  /** Milliseconds. */
  monotonic = 5_000_000;

  advance(ms: number): void {
    this.wall += ms;
    this.monotonic += ms;
  }
}
