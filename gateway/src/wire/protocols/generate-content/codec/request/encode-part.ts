import {
  type Block,
  type OpaqueBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  Unconvertible,
  type MediaSource,
} from '#canonical/index.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import type { EncodeContext } from './model-traits.ts';
import { restoreExtensions } from '../../fields.ts';
import { readArguments, writeResult, upstreamSignature, textPart } from '../parts.ts';

export type Part = Record<string, unknown>;

/** Encodes one block of a request as a part; null if it would be empty. @throws Unconvertible */
export function encodePart(
  block: Exclude<Block, ToolResultBlock>,
  context: EncodeContext,
): Part | null {
  const { losses } = context;
  if (block.cache !== undefined) losses.dropped('cache');
  const signature = upstreamSignature(block.state);
  const part = contentOf(block, context, signature !== undefined);
  if (part === null) return null;
  if (signature !== undefined) part['thoughtSignature'] = signature;
  restoreExtensions(part, block.extensions, losses);
  return part;
}

function contentOf(
  block: Exclude<Block, ToolResultBlock>,
  context: EncodeContext,
  isSigned: boolean,
): Part | null {
  switch (block.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return textPart(block, isSigned);
    case 'tool-call':
      return encodeCall(block, context);
    case 'image':
      if (block.detail !== undefined) context.details.add(block.detail);
      return encodeMedia(block.source);
    case 'file':
      if (block.filename !== undefined) context.losses.dropped('file.filename');
      return encodeMedia(block.source);
    case 'audio':
    case 'video':
      return encodeMedia(block.source);
    case 'opaque':
      return encodeOpaque(block, context);
  }
}

function encodeCall(block: ToolCallBlock, { losses, model, callNames }: EncodeContext): Part {
  const { args, broken } = readArguments(block.arguments);
  if (broken) losses.approximated('tool_call.arguments');
  if (block.id !== null) callNames.set(block.id, block.name);
  return { functionCall: { ...callId(block.id, model.callIds), name: block.name, args } };
}

function callId(id: string | null, accepted: boolean): JsonRecord {
  return id !== null && accepted ? { id } : {};
}

function encodeOpaque(block: OpaqueBlock, { losses }: EncodeContext): Part | null {
  if (block.protocol === 'generate-content') return { ...(block.value as JsonRecord) };
  if (block.text !== undefined && block.text !== '' && block.ifForeign === 'drop') {
    losses.add(block.name, 'approximated');
    return { text: block.text };
  }
  losses.ofClient(block.name, block.ifForeign);
  return null;
}

/** A result, and the media that must go beside it. */
export interface EncodedResult {
  readonly id: string | null;
  readonly part: Part;
  readonly media: readonly Part[];
}

/** Types that a model accepts inside a result. Others go beside it. */
const resultMedia = /^(image\/(png|jpeg|webp)|application\/pdf|text\/plain)$/;

/** @throws Unconvertible for a result without its call. */
export function encodeResult(block: ToolResultBlock, context: EncodeContext): EncodedResult {
  const { losses, model } = context;
  if (block.cache !== undefined) losses.dropped('cache');
  const name = block.name ?? context.callNames.get(block.id ?? '');
  if (name === undefined) {
    throw new Unconvertible(
      'tool_result',
      `the tool result '${block.id ?? ''}' does not belong to any call before it`,
    );
  }
  const media = block.content.flatMap((inner) => mediaOf(inner, context));
  const isInside = model.resultMedia && media.every(isTakenInside);
  const response: Record<string, unknown> = {
    ...callId(block.id, model.callIds),
    name,
    response: writeResult(block),
    ...(isInside && media.length > 0 ? { parts: media } : {}),
  };
  const part: Part = { functionResponse: response };
  restoreExtensions(part, block.extensions, losses);
  return { id: block.id, part, media: isInside ? [] : media };
}

/** Notes the parts of a result that its text does not contain. */
function mediaOf(block: Block, context: EncodeContext): Part[] {
  const { losses } = context;
  if (block.type === 'text' || block.type === 'refusal') {
    if (block.cache !== undefined) losses.dropped('cache');
    return [];
  }
  if (block.type === 'opaque' && block.protocol !== 'generate-content') {
    if (block.text === undefined) losses.ofClient(block.name, block.ifForeign);
    else losses.add(block.name, 'approximated');
    return [];
  }
  if (block.type === 'tool-result' || block.type === 'tool-call' || block.type === 'reasoning') {
    losses.dropped('tool_result.content');
    return [];
  }
  const part = encodePart(block, context);
  return part === null ? [] : [part];
}

function isTakenInside(part: Part): boolean {
  const data = part['inlineData'] as { readonly mimeType: string } | undefined;
  return data === undefined || resultMedia.test(data.mimeType);
}

/** Encodes media as a part. @throws Unconvertible for a file that another provider stores. */
function encodeMedia(source: MediaSource): Record<string, unknown> {
  const data = dataPart(source);
  if (data !== null) return data;
  throw new Unconvertible(
    'file_id',
    'a file stored at another provider cannot be read by this model, please send the file itself',
  );
}

/** Null if this protocol cannot carry the source. */
export function dataPart(source: MediaSource): Record<string, unknown> | null {
  if (source.kind === 'data') {
    return { inlineData: { mimeType: source.mime, data: source.base64 } };
  }
  if (source.kind === 'url') return { fileData: fileData(source.url, source.mime) };
  return source.protocol === 'generate-content' ? { fileData: fileData(source.id, null) } : null;
}

function fileData(fileUri: string, mimeType: string | null): JsonRecord {
  return mimeType === null ? { fileUri } : { mimeType, fileUri };
}
