import type { Block, MediaSource, NativeState } from '#canonical/index.ts';
import { isRecord } from '../../../shared/values.ts';
import { directCaller } from './message-frame.ts';
import { toolInput } from '../tool-input.ts';
import type { WireObject } from '../../wire.ts';

/** Encodes a block of a response; null if it has no form here. */
export function encodeOutput(block: Block, mintId: () => string): WireObject | null {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return textBlock(block.text);
    case 'reasoning':
      return encodeThinking(block.text, block.state);
    case 'tool-call':
      return {
        type: 'tool_use',
        id: block.id ?? mintId(),
        name: block.name,
        input: toolInput(block.arguments).input,
        caller: directCaller,
      };
    case 'image':
      return textBlock(imageText(block.source));
    case 'opaque':
      if (block.protocol === 'messages' && isRecord(block.value)) return { ...block.value };
      return textBlock(block.text ?? '');
    case 'file':
    case 'audio':
    case 'video':
    case 'tool-result':
      return null;
  }
}

/** Upstreams would refuse an empty text when the client returns its history. */
function textBlock(text: string): WireObject | null {
  return text === '' ? null : { type: 'text', text, citations: null };
}

/** The protocol has no images in responses. Markdown shows them where text is shown. */
export function imageText(source: MediaSource): string {
  switch (source.kind) {
    case 'data':
      return `![image](data:${source.mime};base64,${source.base64})`;
    case 'url':
      return `![image](${source.url})`;
    case 'file-id':
      return '';
  }
}

/**
 * Foreign reasoning has an envelope in place of the signature, made by an earlier step for this client. State without an
 * envelope is not for the client.
 */
function encodeThinking(text: string, state: NativeState | undefined): WireObject | null {
  if (state !== undefined && isRedacted(state)) {
    return { type: 'redacted_thinking', data: state.data };
  }
  const signature = state === undefined ? null : signatureOf(state);
  if (text === '' && signature === null) return null;
  return { type: 'thinking', thinking: text, signature: signature ?? '' };
}

export function isRedacted({ protocol, kind }: NativeState): boolean {
  return protocol === 'messages' && kind === 'redacted';
}

export function signatureOf({ protocol, kind, data }: NativeState): string | null {
  const isOwn = protocol === 'messages' && kind === 'signature';
  return isOwn || kind === 'envelope' ? data : null;
}
