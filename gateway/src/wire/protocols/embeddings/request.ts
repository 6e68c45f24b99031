import {
  type Edit,
  type JsonScan,
  type MemberRange,
  parseObject,
  type ParseRoom,
  replaceValue,
  splice,
  watchList,
} from '#json/index.ts';
import { requestedTerms } from '../shared/usage/terms.ts';
import { readModel, requireOneOf } from '../shared/text/request-values.ts';

const watched = watchList(['model', 'input', 'models', 'fallbacks', 'service_tier']);

/** A body that was scanned and parsed once: the places of its members, and their values. */
export interface OpenedEmbeddings {
  readonly body: Buffer;
  readonly scan: JsonScan;
  readonly json: Readonly<Record<string, unknown>>;
  /** The model as the client named it. */
  readonly model: string;
}

/** A request that was checked. Plain data besides its body: it is read in a thread if it is large. */
export interface EmbeddingsRequest {
  readonly body: Buffer;
  /** The model as the client named it. */
  readonly model: string;
  /** Where the body names it. */
  readonly modelRange: MemberRange | undefined;
  /** By name, without the value of `input`: an upstream is sent the client's own bytes. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly extent: EmbeddingsExtent;
  /** What it asks for that may cost more, as prices name it: `models.other`, `service_tier.priority`. */
  readonly terms: readonly string[];
  /** Bytes of the body that `input` takes. */
  readonly inputBytes: number;
}

/**
 * Scans and parses a request body once, and reads the name of the model.
 * @param room bounds the memory for the parsed body; absent: unbounded
 * @throws GatewayError `invalid_body`, `too_complex`, `duplicate_key`, `model_required`, and what `room` throws.
 */
export function openRequest(body: Buffer, room?: ParseRoom): OpenedEmbeddings {
  const { scan, value: json } = parseObject(body, watched, room);
  return { body, scan, json, model: readModel(json['model']) };
}

/** @throws GatewayError `missing_parameter` without `input`. */
export function readRequest({ body, scan, json, model }: OpenedEmbeddings): EmbeddingsRequest {
  requireOneOf([json['input']], 'input');
  const range = scan.members.get('input');
  return {
    body,
    model,
    modelRange: scan.members.get('model'),
    members: { ...json, input: undefined },
    extent: readExtent(json['input']),
    terms: requestedTerms(json, 'service_tier'),
    inputBytes: range === undefined ? 0 : range.valueEnd - range.valueStart,
  };
}

/**
 * The body for one upstream: its name of the model, every other byte as the client sent it (`user` and
 * `encoding_format` too). The same buffer when the upstream uses the client's name.
 */
export function patchRequest(
  { body, model, modelRange }: EmbeddingsRequest,
  upstreamModel: string,
): Buffer {
  const edits: Edit[] = [];
  if (modelRange !== undefined && model !== upstreamModel) {
    edits.push(replaceValue(modelRange, upstreamModel));
  }
  return splice(body, edits);
}

/** How much there is to embed, as far as the request itself shows. */
export interface EmbeddingsExtent {
  /** The number of items (texts, token lists, objects), each of which gets a vector. At least 1. */
  readonly items: number;
  /** The number of tokens if every item is a list of tokens; null if a text must be tokenized first. */
  readonly tokens: number | null;
  /** An item is neither a text nor a list of tokens, so the bytes of the body do not bound its tokens. */
  readonly unseen: boolean;
}

/**
 * How much the `input` of a request is: a text, a list of texts, a list of tokens, or a list of token lists. Other shapes
 * pass: some servers embed objects that name an image, and each server refuses what it cannot read.
 */
export function readExtent(input: unknown): EmbeddingsExtent {
  if (!Array.isArray(input)) return { items: 1, tokens: null, unseen: typeof input !== 'string' };
  const list: readonly unknown[] = input;
  if (isTokenList(list)) return { items: 1, tokens: list.length, unseen: false };
  let tokens = 0;
  let tokenLists = 0;
  let texts = 0;
  for (const item of list) {
    if (typeof item === 'string') texts += 1;
    else if (isTokenList(item)) {
      tokenLists += 1;
      tokens += item.length;
    }
  }
  const items = list.length;
  return {
    items: Math.max(1, items),
    tokens: items > 0 && tokenLists === items ? tokens : null,
    unseen: texts + tokenLists < items,
  };
}

function isTokenList(value: unknown): value is readonly number[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((token) => typeof token === 'number')
  );
}
