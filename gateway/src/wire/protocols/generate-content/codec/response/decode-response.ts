import {
  type Block,
  type Candidate,
  type GenerationResponse,
  type TextBlock,
  noExtensions,
} from '#canonical/index.ts';
import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { decodeResponsePart } from '../request/decode-part.ts';
import { decodeFinish, blockReason, readLogprobs } from './candidate-members.ts';
import { readGrounding, readRecitations } from './grounding.ts';
import { joinBlock } from '../parts.ts';

/** Decodes candidates in the order of their indices. A blocked prompt becomes a candidate with that finish. */
export function decodeResponse(json: JsonRecord): GenerationResponse {
  const writtenCandidates = json['candidates'];
  const records = Array.isArray(writtenCandidates) ? writtenCandidates.filter(isRecord) : [];
  const isBlocked = records.length === 0 && blockReason(json) !== null;
  const candidates: Candidate[] = isBlocked
    ? [{ blocks: [], finish: { reason: 'blocked' } }]
    : records.toSorted((a, b) => candidateIndex(a) - candidateIndex(b)).map(decodeCandidate);
  return { candidates, extensions: noExtensions };
}

/** The candidate's index from 0. A single candidate often has none. */
export function candidateIndex(candidate: JsonRecord): number {
  const { index } = candidate;
  return typeof index === 'number' && Number.isInteger(index) && index > 0 ? index : 0;
}

function decodeCandidate(candidate: JsonRecord): Candidate {
  const blocks: Block[] = [];
  const { parts } = recordAt(candidate, 'content');
  for (const part of Array.isArray(parts) ? parts.filter(isRecord) : []) {
    const block = decodeResponsePart(part);
    if (block !== null && !isEmpty(block)) joinBlock(blocks, block);
  }
  const hasCalls = blocks.some(({ type }) => type === 'tool-call');
  // A broken upstream sends no content and no reason for it.
  const { finishReason = blocks.length > 0 ? 'STOP' : 'OTHER' } = candidate;
  return { blocks: annotated(blocks, candidate), finish: decodeFinish(finishReason, hasCalls) };
}

/** Responses often end with an empty text. */
function isEmpty(block: Block): boolean {
  return block.type === 'text' && block.text === '' && block.state === undefined;
}

/** The candidate's sources and log probabilities go to its last text, where the sources are cited. */
function annotated(blocks: readonly Block[], candidate: JsonRecord): readonly Block[] {
  const at = blocks.findLastIndex(({ type }) => type === 'text');
  const text = blocks[at];
  if (text?.type !== 'text') return blocks;
  const logprobs = readLogprobs(candidate['logprobsResult']);
  const citations = [
    ...readGrounding(candidate['groundingMetadata'], text.text),
    ...readRecitations([candidate['citationMetadata']]),
  ];
  const full: TextBlock = {
    ...text,
    ...(logprobs.length > 0 ? { logprobs } : {}),
    ...(citations.length > 0 ? { citations } : {}),
  };
  return blocks.with(at, full);
}
