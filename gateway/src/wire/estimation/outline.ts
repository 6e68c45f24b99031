import type { Block, GenerationRequest, MediaSource, Tool } from '#canonical/index.ts';
import { imageSize, type ImageSize, byteLength, bytesAt } from './image-size.ts';

/** The parts of a request that take tokens; the texts are not counted yet. */
export interface Outline {
  /** Spoken parts: instructions, conversation, calls and their results. */
  readonly said: readonly string[];
  /** Definitions: tools and the format of the response. */
  readonly defined: readonly string[];
  readonly turns: number;
  readonly calls: number;
  /** Tools that the client runs. */
  readonly tools: number;
  /** Tools that the provider runs and describes to the model itself. */
  readonly hostedTools: number;
  readonly hasFormat: boolean;
  /** Characters of reasoning that only its vendor can read. */
  readonly hiddenState: number;
  readonly images: readonly OutlinedImage[];
  readonly pdfPages: number;
  readonly audioSeconds: number;
  readonly videoSeconds: number;
}

interface OutlinedImage {
  /** Null if unknown. */
  readonly size: ImageSize | null;
  readonly detail: string | undefined;
}

type Draft = { -readonly [Key in keyof Outline]: Outline[Key] } & {
  readonly said: string[];
  readonly defined: string[];
  readonly images: OutlinedImage[];
};

/** Reads a request once. Copies no text, and decodes only the headers of media. */
export function outlineRequest({ system, turns, tools, format }: GenerationRequest): Outline {
  const draft: Draft = {
    said: system.map(({ text }) => text),
    defined: [],
    turns: turns.length + (system.length > 0 ? 1 : 0),
    calls: 0,
    tools: 0,
    hostedTools: 0,
    hasFormat: format?.type === 'schema',
    hiddenState: 0,
    images: [],
    pdfPages: 0,
    audioSeconds: 0,
    videoSeconds: 0,
  };
  for (const { blocks } of turns) for (const block of blocks) addBlock(draft, block);
  for (const tool of tools) addTool(draft, tool);
  if (format?.type === 'schema') draft.defined.push(JSON.stringify(format.schema));
  return draft;
}

function addBlock(draft: Draft, block: Block): void {
  const { state } = block;
  // A signature only vouches for text that is present; other state stands for text that is not.
  if (state !== undefined && state.kind !== 'signature') draft.hiddenState += state.data.length;
  switch (block.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      draft.said.push(block.text);
      return;
    case 'tool-call':
      draft.calls += 1;
      draft.said.push(block.name, block.arguments);
      return;
    case 'tool-result':
      draft.calls += 1;
      for (const each of block.content) addBlock(draft, each);
      return;
    case 'image':
      draft.images.push({ size: sizeOf(block.source), detail: block.detail });
      return;
    case 'file':
      addFile(draft, block.source);
      return;
    case 'audio':
      draft.audioSeconds += seconds(block.source, 'audio');
      return;
    case 'video':
      draft.videoSeconds += seconds(block.source, 'video');
      return;
    case 'opaque':
      // The provider's use of it is unknown; it hardly exceeds its text.
      if (block.ifForeign !== 'ignore') draft.said.push(block.text ?? JSON.stringify(block.value));
  }
}

function addFile(draft: Draft, source: MediaSource): void {
  if (source.kind === 'data' && source.mime.startsWith('text/')) {
    draft.said.push(Buffer.from(source.base64, 'base64').toString('utf8'));
  } else if (source.kind === 'data' && source.mime.startsWith('image/')) {
    draft.images.push({ size: sizeOf(source), detail: undefined });
  } else {
    draft.pdfPages += pdfPages(source);
  }
}

function addTool(draft: Draft, tool: Tool): void {
  // Its vendor counts a type, whatever a function in its place would say.
  if (tool.type === 'hosted' || (tool.type === 'function' && tool.typed !== undefined)) {
    draft.hostedTools += 1;
    return;
  }
  draft.tools += 1;
  draft.defined.push(tool.name, tool.description ?? '');
  if (tool.type === 'function') draft.defined.push(JSON.stringify(tool.schema ?? {}));
  else if (tool.grammar !== null) draft.defined.push(tool.grammar.definition);
}

function sizeOf(source: MediaSource): ImageSize | null {
  return source.kind === 'data' ? imageSize(source.base64) : null;
}

/** The assumed length of a file whose real length is unknown: one page, or this many seconds. */
const usualSeconds = 60;
/** Bytes searched at the beginning and at the end of a document. */
const lookedThrough = 512 * 1024;
/** A page of text and figures, if the file does not contain its page count. */
const bytesPerPage = 50_000;
/** Low bit rates, so that a file is rather over- than underestimated: 64 kbit/s, 1 Mbit/s. */
const bytesPerSecond = { audio: 8_000, video: 125_000 } as const;

/** The number of pages of a document: from its page tree if that is not compressed, otherwise by size. */
export function pdfPages(source: MediaSource): number {
  if (source.kind !== 'data') return 1;
  const bytes = byteLength(source.base64);
  const parts = [bytesAt(source.base64, 0, lookedThrough)];
  if (bytes > lookedThrough) {
    const from = Math.max(lookedThrough, bytes - lookedThrough);
    parts.push(bytesAt(source.base64, from, lookedThrough));
  }
  const text = parts.map((part) => part.toString('latin1')).join('\n');
  const counts = [...text.matchAll(/\/Count\s+(\d{1,6})\b/g)].map(([, count]) => Number(count));
  const pages = text.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  const pageCount = Math.max(pages, ...counts);
  return pageCount > 0 ? pageCount : Math.ceil(bytes / bytesPerPage);
}

/** The playing time: from the header of a WAV file, otherwise by size. */
export function seconds(source: MediaSource, kind: 'audio' | 'video'): number {
  if (source.kind !== 'data') return usualSeconds;
  const head = bytesAt(source.base64, 0, 32);
  const isWave = head.length === 32 && head.toString('latin1', 8, 16) === 'WAVEfmt ';
  const rate = isWave ? head.readUInt32LE(28) : 0;
  return Math.ceil(byteLength(source.base64) / (rate > 0 ? rate : bytesPerSecond[kind]));
}
