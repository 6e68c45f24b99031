/**
 * What an error of an upstream means. `account`: the operator's money, plan or permission. `quota`: it was used too fast.
 * `capability`: the model cannot do what was asked for. `client`: the request is at fault otherwise.
 */
export type Fault =
  | 'account'
  | 'body_too_large'
  | 'capability'
  | 'client'
  | 'content_policy'
  | 'context_overflow'
  | 'model_missing'
  | 'overloaded'
  | 'previous_response_not_found'
  | 'quota';

/**
 * How one vendor, or one kind of server, says what is wrong. Gateways and hosts pass on each other's errors, so every table
 * counts at every upstream. A new way to say it is one line with its source, and a sample in `faults.test.ts`.
 */
export interface FaultTable {
  /**
   * By code, type, status word or reason, in any case; a word with a dot also by the part before it. With an HTTP status
   * before the word (`429 1113`): only beside that status, 200 for an error inside of a response. A number is the HTTP status of an error that comes without one,
   * as in a stream.
   */
  readonly words: Readonly<Record<string, Fault | number>>;
  /**
   * By what the text says. It may quote what the client wrote, unless the expression begins with `^`: then the text
   * itself begins so.
   */
  readonly texts: readonly (readonly [text: RegExp, fault: Fault])[];
}
