import { parseExact } from '../../shared/exact-json.ts';
import { frame } from '../../shared/text/events.ts';
import { isAbsent, isRecord, recordAt, textOf, type JsonRecord } from '../../shared/values.ts';
import { mergeUsage } from './usage.ts';

/** Turns a whole message into the frames of a stream. */
export function toEvents(response: JsonRecord): string {
  const { content, stop_reason, stop_sequence = null, usage, ...base } = response;
  const message = { ...base, content: [], stop_reason: null, stop_sequence: null };
  const counted = isAbsent(usage) ? {} : { usage };
  let frames = event('message_start', { message: { ...message, ...counted } });
  const blocks = Array.isArray(content) ? content.filter(isRecord) : [];
  for (const [index, block] of blocks.entries()) {
    const { start, deltas } = piecesOf(block);
    frames += event('content_block_start', { index, content_block: start });
    for (const delta of deltas) frames += event('content_block_delta', { index, delta });
    frames += event('content_block_stop', { index });
  }
  frames += event('message_delta', { delta: { stop_reason, stop_sequence }, ...counted });
  return frames + event('message_stop', {});
}

/** Joins the events of a complete stream into one message. */
export function toWhole(events: readonly JsonRecord[]): JsonRecord {
  let message: JsonRecord = {};
  let usage: JsonRecord = {};
  const blocks = new Map<unknown, OpenBlock>();
  for (const { type, ...members } of events) {
    if (type === 'message_start') {
      message = recordAt(members, 'message');
      usage = mergeUsage(usage, message['usage']);
    } else if (type === 'content_block_start') {
      blocks.set(members['index'], { block: recordAt(members, 'content_block'), input: '' });
    } else if (type === 'content_block_delta') {
      const open = blocks.get(members['index']);
      if (open !== undefined) addDelta(open, recordAt(members, 'delta'));
    } else if (type === 'message_delta') {
      message = { ...message, ...recordAt(members, 'delta') };
      usage = mergeUsage(usage, members['usage']);
    }
  }
  const content = [...blocks.values()].map(({ block, input }) =>
    input === '' ? block : { ...block, input: parseInput(input) },
  );
  return { ...message, content, ...(Object.keys(usage).length > 0 && { usage }) };
}

interface OpenBlock {
  block: JsonRecord;
  /** JSON text so far. */
  input: string;
}

function addDelta(open: OpenBlock, delta: JsonRecord): void {
  const { block } = open;
  const grown = (name: string) => ({
    ...block,
    [name]: textOf(block[name]) + textOf(delta[name]),
  });
  switch (delta['type']) {
    case 'text_delta':
      open.block = grown('text');
      break;
    case 'thinking_delta':
      open.block = grown('thinking');
      break;
    case 'signature_delta':
      open.block = { ...block, signature: delta['signature'] };
      break;
    case 'citations_delta': {
      const earlierCitations = Array.isArray(block['citations']) ? block['citations'] : [];
      open.block = { ...block, citations: [...earlierCitations, delta['citation']] };
      break;
    }
    case 'input_json_delta':
      open.input += textOf(delta['partial_json']);
  }
}

/** The output limit may have cut a call's object in the middle. */
function parseInput(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return {};
  }
}

interface Pieces {
  readonly start: JsonRecord;
  readonly deltas: readonly JsonRecord[];
}

function piecesOf(block: JsonRecord): Pieces {
  switch (block['type']) {
    case 'text': {
      const { citations, ...text } = block;
      const cited = Array.isArray(citations) ? citations : [];
      return {
        start: { ...text, text: '' },
        deltas: [
          ...cited.map((citation: unknown) => ({ type: 'citations_delta', citation })),
          { type: 'text_delta', text: block['text'] },
        ],
      };
    }
    case 'thinking': {
      const { thinking, signature = '' } = block;
      return {
        start: { ...block, thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking },
          { type: 'signature_delta', signature },
        ],
      };
    }
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const partial_json = JSON.stringify(block['input'] ?? {});
      return {
        start: { ...block, input: {} },
        deltas: [{ type: 'input_json_delta', partial_json }],
      };
    }
    default:
      return { start: block, deltas: [] };
  }
}

function event(type: string, members: JsonRecord): string {
  return frame(type, JSON.stringify({ type, ...members }));
}
