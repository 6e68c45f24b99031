import type {
  GenerationResponse,
  TokenUsage,
  Block,
  MediaSource,
  NativeState,
} from '#canonical/index.ts';
import type { ResponseContext } from '../../../codec.ts';
import { type JsonRecord, isRecord } from '../../../shared/values.ts';
import { encodeUsage, callId, messageHead, directCaller } from './message-frame.ts';
import { encodeFinish } from './finish.ts';
import { toolInput } from '../blocks.ts';
import type { WireObject } from '../../wire.ts';

/** Encodes a complete message from the first candidate, since this protocol has room for one. */
export function encodeResponse(
  response: GenerationResponse,
  usage: TokenUsage | null,
  context: ResponseContext,
): JsonRecord {
  const [candidate] = response.candidates;
  let calls = 0;
  const content = (candidate?.blocks ?? []).flatMap((block) => {
    const mintId = (): string => callId(context, calls);
    const wire = encodeOutput(block, mintId);
    if (wire?.['type'] === 'tool_use') calls += 1;
    return wire ?? [];
  });
  return {
    ...messageHead(context),
    content,
    ...encodeFinish(candidate?.finish ?? { reason: 'other' }, calls > 0),
    usage: encodeUsage(usage, context.inputTokens),
  };
}

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
function imageText(source: MediaSource): string {
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
