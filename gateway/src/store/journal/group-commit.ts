export interface GroupCommitOptions {
  /** Passes one batch on to be written; its outcome comes back through `done` or `failed`. */
  readonly send: (lines: string, count: number) => void;
  /** Requests a write without records; its outcome comes back the same way. */
  readonly probe: () => void;
  /** Runs a function at the end of this turn of the event loop. */
  readonly defer: (run: () => void) => void;
  /** Runs a function later. */
  readonly schedule: (run: () => void, milliseconds: number) => void;
  readonly rejection: (reason: string) => Error;
}

interface Waiting {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const maxFailures = 3;
const retryAfter = 50;
const probeInterval = 1_000;

/**
 * Gathers records between the requests and the disk: records that arrive during a commit are committed together next.
 * That commit begins when the previous one has ended, with everything that arrived in the same turn of the event loop.
 * Waiting for the turn costs no time and saves commits: one per record would take a tenth more CPU per request.
 */
export class GroupCommit {
  /** Why nothing is accepted; null: records are accepted. */
  broken: string | null = null;
  readonly #options: GroupCommitOptions;
  #waiting: Waiting[] = [];
  #inFlight: Waiting[] = [];
  #isBusy = false;
  #isScheduled = false;
  #failures = 0;
  #hasEnded = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  append(line: string): Promise<void> {
    if (this.broken !== null) return Promise.reject(this.#options.rejection(this.broken));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, resolve, reject });
      if (!this.#isBusy) this.#schedule();
    });
  }

  /** Begins the next commit at the end of this turn of the event loop. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.defer(() => {
      this.#isScheduled = false;
      if (this.#isBusy || this.#waiting.length === 0) return;
      this.#inFlight = this.#waiting;
      this.#waiting = [];
      this.#write();
    });
  }

  #write(): void {
    this.#isBusy = true;
    const lines = this.#inFlight.map(({ line }) => line).join(',');
    this.#options.send(lines, this.#inFlight.length);
  }

  /** What was sent last is on disk. */
  done(): void {
    if (this.#hasEnded) return;
    this.#failures = 0;
    this.#isBusy = false;
    this.broken = null;
    const writtenLines = this.#inFlight;
    this.#inFlight = [];
    for (const { resolve } of writtenLines) resolve();
    if (this.#waiting.length > 0) this.#schedule();
  }

  /** What was sent last may not be on disk. */
  failed(reason: string): void {
    if (this.#hasEnded) return;
    this.#failures += 1;
    const { schedule, probe } = this.#options;
    if (this.#failures < maxFailures) {
      schedule(() => {
        if (!this.#hasEnded) this.#write();
      }, retryAfter);
      return;
    }
    // From here on nothing is accepted until a probe has been written.
    this.broken = reason;
    this.#refuseAll(reason);
    schedule(() => {
      if (!this.#hasEnded) probe();
    }, probeInterval);
  }

  #refuseAll(reason: string): void {
    const refusedLines = [...this.#inFlight, ...this.#waiting];
    this.#inFlight = [];
    this.#waiting = [];
    for (const { reject } of refusedLines) reject(this.#options.rejection(reason));
  }

  /** Refuses everything from now on, permanently. */
  end(reason: string): void {
    this.#hasEnded = true;
    this.broken = reason;
    this.#isBusy = true;
    this.#refuseAll(reason);
  }

  get idle(): boolean {
    return this.#inFlight.length === 0 && this.#waiting.length === 0;
  }
}
