import { frame } from '../../../shared/text/events.ts';
import { isRecord } from '../../../shared/values.ts';
import { directCaller } from '../response/message-frame.ts';
import { toolInput } from '../blocks.ts';
import type { WireObject } from '../../wire.ts';

/** A block of the response, from its first piece until it is fully written. */
export type Piece = WordsPiece | CallPiece | WholePiece;

export interface WordsPiece {
  readonly kind: 'text' | 'refusal' | 'thinking';
  /** Thinking and its summary are separate blocks. */
  readonly summary: boolean | undefined;
  /** Text that was not written yet. */
  text: string;
  /** The signature of thinking, which goes out just before its end. */
  signature: string | null;
  begun: boolean;
  done: boolean;
}

export interface CallPiece {
  readonly kind: 'call';
  readonly call: number;
  readonly id: string;
  readonly name: string;
  text: string;
  /** The first character of the arguments, white space aside; empty until it has come. */
  opening: string;
  begun: boolean;
  done: boolean;
}

interface WholePiece {
  readonly kind: 'whole';
  readonly block: WireObject;
  readonly done: true;
}

export function wordsPiece(kind: WordsPiece['kind'], text: string, summary?: boolean): WordsPiece {
  return { kind, summary, text, signature: null, begun: false, done: false };
}

/** Writes the frames of one block at a time. Unwritten text stays in the piece. */

export function textDelta(index: number, text: string): string {
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":${JSON.stringify(text)}}}\n\n`;
}

export function thinkingDelta(index: number, text: string): string {
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"thinking_delta","thinking":${JSON.stringify(text)}}}\n\n`;
}

function inputDelta(index: number, text: string): string {
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"input_json_delta","partial_json":${JSON.stringify(text)}}}\n\n`;
}

function start(index: number, block: object): string {
  const data = JSON.stringify({ type: 'content_block_start', index, content_block: block });
  return frame('content_block_start', data);
}

function stop(index: number): string {
  return frame('content_block_stop', `{"type":"content_block_stop","index":${index}}`);
}

/** Writes as much of the piece as possible, with its end if it is done. */
export function writePiece(index: number, piece: Piece): string {
  switch (piece.kind) {
    case 'call':
      return writeCall(index, piece);
    case 'whole':
      return writeWhole(index, piece);
    default:
      return writeWords(index, piece);
  }
}

function writeWords(index: number, piece: WordsPiece): string {
  const { text, signature } = piece;
  const isThinking = piece.kind === 'thinking';
  let frames = '';
  // A block that may turn out empty is not begun.
  if (!piece.begun && (text !== '' || signature !== null)) {
    piece.begun = true;
    const empty = { type: 'thinking', thinking: '', signature: '' };
    frames += start(index, isThinking ? empty : { type: 'text', text: '', citations: null });
  }
  if (text !== '') frames += isThinking ? thinkingDelta(index, text) : textDelta(index, text);
  piece.text = '';
  if (!piece.done || !piece.begun) return frames;
  if (signature !== null) {
    const delta = { type: 'signature_delta', signature };
    const data = JSON.stringify({ type: 'content_block_delta', index, delta });
    frames += frame('content_block_delta', data);
  }
  return frames + stop(index);
}

/**
 * Writes arguments as they come, once it is clear that they are an object. Clients could not parse anything else: it
 * waits for its end and is wrapped in an object.
 */
function writeCall(index: number, piece: CallPiece): string {
  let frames = '';
  if (!piece.begun) {
    piece.begun = true;
    const { id, name } = piece;
    frames += start(index, { type: 'tool_use', id, name, input: {}, caller: directCaller });
  }
  const streams = piece.opening === '{';
  if (streams) {
    if (piece.text !== '') frames += inputDelta(index, piece.text);
    piece.text = '';
  }
  if (!piece.done) return frames;
  if (!streams) frames += inputDelta(index, JSON.stringify(toolInput(piece.text).input));
  return frames + stop(index);
}

/** Clients read calls of hosted tools from deltas, like all calls. */
function writeWhole(index: number, { block }: WholePiece): string {
  const { input } = block;
  if (!isRecord(input)) return start(index, block) + stop(index);
  const delta = inputDelta(index, JSON.stringify(input));
  return start(index, { ...block, input: {} }) + delta + stop(index);
}
