import type { GenerationEvent } from '#canonical/index.ts';
import type { StreamDecoder } from '../../../codec.ts';
import { parseRecordPassingOn } from '../../../shared/text/events.ts';
import type { StreamEvent } from '../../../protocol.ts';
import { isRecord } from '../../../shared/values.ts';
import { CandidateDecoder } from './candidate-decoder.ts';
import { candidateIndex } from '../response/decode-response.ts';
import { blockReason } from '../response/logprobs.ts';
import { passedOn } from '../passed-on.ts';

type Emit = (event: GenerationEvent) => void;

/**
 * Holds finishes back until the end: some upstreams repeat the reason in every chunk, and the sources of a text come
 * after it.
 */
export function createStreamDecoder(): StreamDecoder {
  /** By their index. */
  const candidates = new Map<number, CandidateDecoder>();
  let isBlocked = false;
  return {
    push(event: StreamEvent, emit: Emit) {
      if (event.data === null) return;
      const chunk = parseRecordPassingOn(event.data, passedOn);
      if (chunk === null) return;
      if (blockReason(chunk) !== null) isBlocked = true;
      const written = chunk['candidates'];
      for (const record of Array.isArray(written) ? written : []) {
        if (!isRecord(record)) continue;
        const index = candidateIndex(record);
        let candidate = candidates.get(index);
        if (candidate === undefined) {
          candidate = new CandidateDecoder(index);
          candidates.set(index, candidate);
        }
        candidate.push(record, emit);
      }
    },
    end(emit: Emit) {
      if (isBlocked && candidates.size === 0) {
        emit({ type: 'finish', finish: { reason: 'blocked' } });
      }
      for (const candidate of candidates.values()) candidate.end(isBlocked, emit);
    },
  };
}
