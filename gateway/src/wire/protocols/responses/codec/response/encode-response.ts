import type { Block, GenerationResponse, TokenUsage } from '#canonical/index.ts';
import type { ResponseContext } from '../../../codec.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import {
  type ResponseIds,
  createResponseIds,
  describeResponse,
  encodeUsage,
  endingOf,
  type Ending,
} from './describe-response.ts';
import {
  callItem,
  carriedState,
  completeArguments,
  describeCall,
  imageItem,
  messageItem,
  ownItem,
  reasoningItem,
  refusalPart,
  textPart,
} from './output-items.ts';

/** Encodes the first candidate, since this protocol has room for one. */
export function encodeResponse(
  response: GenerationResponse,
  usage: TokenUsage | null,
  context: ResponseContext,
): JsonRecord {
  const [candidate] = response.candidates;
  const ending = endingOf(candidate?.finish.reason ?? 'other');
  return {
    ...describeResponse(context),
    status: ending.status,
    incomplete_details: ending.reason === null ? null : { reason: ending.reason },
    output: encodeOutput(candidate?.blocks ?? [], ending, createResponseIds(context)),
    usage: encodeUsage(usage),
  };
}

/** Adjacent parts make one message. The last message shows that the response was cut. */
function encodeOutput(blocks: readonly Block[], ending: Ending, ids: ResponseIds): object[] {
  const output: object[] = [];
  let content: object[] = [];
  const closeMessage = (status: Ending['status']): void => {
    if (content.length === 0) return;
    output.push(messageItem(ids.item('msg', output.length), status, content));
    content = [];
  };
  for (const block of blocks) {
    const part = encodePart(block);
    if (part !== null) {
      content.push(part);
      continue;
    }
    const next = content.length === 0 ? output.length : output.length + 1;
    const item = encodeItem(block, next, ids);
    if (item === null) continue;
    closeMessage('completed');
    output.push(item);
  }
  closeMessage(ending.status);
  return output;
}

function encodePart(block: Block): object | null {
  switch (block.type) {
    case 'text':
      return block.text === ''
        ? null
        : textPart(block.text, block.citations ?? [], block.logprobs ?? []);
    case 'refusal':
      return block.text === '' ? null : refusalPart(block.text);
    case 'opaque':
      return block.protocol !== 'responses' && block.text ? textPart(block.text, [], []) : null;
    default:
      return null;
  }
}

function encodeItem(block: Block, index: number, ids: ResponseIds): object | null {
  switch (block.type) {
    case 'reasoning': {
      const state = carriedState(block.state);
      if (block.text === '' && state === undefined) return null;
      return reasoningItem(ids.item('rs', index), block.text, state);
    }
    case 'tool-call': {
      const own = ownItem(block, block.arguments, ids, index);
      if (own !== null) return own;
      const text = completeArguments(block.kind, block.arguments);
      return callItem(describeCall(block, ids, index), block.kind, text);
    }
    case 'image':
      return imageItem(ids.item('ig', index), block);
    case 'opaque':
      return block.protocol === 'responses' && isRecord(block.value) ? block.value : null;
    default:
      return null;
  }
}
