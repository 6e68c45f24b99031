/** The time of a simulation, in milliseconds: only the wall clock steps. */
export class SimulatedClock {
  #wall: number;
  #monotonic = 5_000_000;

  constructor(wall: number) {
    this.#wall = wall;
  }

  readonly now = (): number => this.#wall;
  readonly monotonic = (): number => this.#monotonic;

  /** Time goes by. */
  advance(milliseconds: number): void {
    this.#wall += milliseconds;
    this.#monotonic += milliseconds;
  }

  /** Somebody sets the wall clock. */
  step(wall: number): void {
    this.#wall = wall;
  }
}
