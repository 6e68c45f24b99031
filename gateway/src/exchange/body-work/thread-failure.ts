/** Why a task has no result. */
export class ThreadFailure extends Error {
  /**
   * `deadline`, `memory`: the task was too much for its thread. `ended`: the pool was closed, or the caller ended the
   * task. `defect`: the thread died of a defect of the gateway.
   */
  readonly reason: 'deadline' | 'memory' | 'ended' | 'defect';

  constructor(reason: ThreadFailure['reason'], cause?: unknown) {
    super(`a thread for large bodies failed: ${reason}`, cause === undefined ? {} : { cause });
    this.name = 'ThreadFailure';
    this.reason = reason;
  }
}
