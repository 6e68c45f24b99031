/** Watches a stream for the terminator of its protocol. */
export interface TerminatorWatch {
  see(chunk: Buffer): void;
  readonly complete: boolean;
  /** The stream had an error event. */
  readonly failed: boolean;
}

const terminators = [
  'data: [DONE]',
  '"message_stop"',
  '"response.completed"',
  '"response.incomplete"',
  '"finishReason"',
];
const failures = ['event: error', '"response.failed"', 'data: {"error"'];
const overlap = 32;

export function watchTerminator(): TerminatorWatch {
  let rest = '';
  let complete = false;
  let failed = false;
  return {
    see(chunk) {
      // Bytes as latin1: the marks are ASCII, and a mark may be split between two chunks.
      const text = rest + chunk.toString('latin1');
      complete ||= terminators.some((mark) => text.includes(mark));
      failed ||= failures.some((mark) => text.includes(mark));
      rest = text.slice(-overlap);
    },
    get complete() {
      return complete;
    },
    get failed() {
      return failed;
    },
  };
}
