import type {
  Citation,
  ImageBlock,
  NativeState,
  TokenLogprob,
  ToolCallBlock,
} from '#canonical/index.ts';
import { clientRunItem } from '../../client-run/items.ts';
import { encodeAnnotation, encodeLogprobs } from '../text-details.ts';
import type { ResponseIds } from './describe-response.ts';

/** The shapes of output items, for complete responses and for the last events of streams. */

export type ItemStatus = 'completed' | 'incomplete';

export function textPart(
  text: string,
  citations: readonly Citation[],
  logprobs: readonly TokenLogprob[],
): object {
  return {
    type: 'output_text',
    text,
    annotations: citations.map(encodeAnnotation),
    logprobs: encodeLogprobs(logprobs),
  };
}

export function refusalPart(refusal: string): object {
  return { type: 'refusal', refusal };
}

export function messageItem(id: string, status: ItemStatus, content: readonly object[]): object {
  return { id, type: 'message', status, role: 'assistant', content };
}

export function reasoningItem(id: string, text: string, state: NativeState | undefined): object {
  return {
    id,
    type: 'reasoning',
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    ...(state !== undefined && { encrypted_content: state.data }),
  };
}

/** State that a client of this protocol can return: the protocol's own, or an envelope. */
export function carriedState(state: NativeState | undefined): NativeState | undefined {
  if (state === undefined) return undefined;
  const isOwn = state.protocol === 'responses' && state.kind === 'encrypted';
  return isOwn || state.kind === 'envelope' ? state : undefined;
}

export type CallHead = Pick<ToolCallBlock, 'id' | 'name' | 'namespace' | 'kind' | 'item'>;

/** The members of a call that do not change while it is produced. */
export function describeCall(
  call: CallHead,
  ids: ResponseIds,
  index: number,
): Readonly<Record<string, string>> & { readonly id: string } {
  const { name, namespace, kind } = call;
  const isCustom = kind === 'custom';
  return {
    id: ids.item(isCustom ? 'ctc' : 'fc', index),
    type: isCustom ? 'custom_tool_call' : 'function_call',
    call_id: call.id ?? ids.item('call', index),
    name,
    ...(namespace !== undefined && { namespace }),
  };
}

/** A call of a tool that the client runs under a type of its own; null for any other call, and for one it cannot run. */
export function ownItem(
  { item, id }: CallHead,
  text: string,
  ids: ResponseIds,
  index: number,
): object | null {
  if (item === undefined) return null;
  return clientRunItem(item, id ?? ids.item('call', index), text, (prefix) =>
    ids.item(prefix, index),
  );
}

/** Missing arguments become an empty object, which clients can parse. */
export function completeArguments(kind: CallHead['kind'], text: string): string {
  return kind === 'function' && text === '' ? '{}' : text;
}

export function callItem(head: object, kind: CallHead['kind'], text: string): object {
  const input = kind === 'custom' ? { input: text } : { arguments: text };
  return { ...head, ...input, status: 'completed' };
}

/** Null for an image that is neither inline nor at an address. */
export function imageItem(id: string, { source }: ImageBlock): object | null {
  if (source.kind === 'file-id') return null;
  const format = source.mime?.startsWith('image/') ? source.mime.slice('image/'.length) : null;
  return {
    id,
    type: 'image_generation_call',
    status: 'completed',
    result: source.kind === 'data' ? source.base64 : source.url,
    ...(format !== null && { output_format: format }),
  };
}
