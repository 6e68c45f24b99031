import type { GenerationRequest } from '#canonical/index.ts';
import { countTexts } from '#estimation/count-text.ts';
import { type Family, familyOf, type TextCounts, weigh } from '#estimation/family.ts';
import { type Outline, outlineRequest } from '#estimation/outline.ts';
import { textCodecs, textProtocols } from '#protocols/index.ts';
import { usageIn } from '../replay/recorded-usage.ts';
import type { Recording } from './recordings.ts';

/** What a provider counted for a request, and what we would have said. */
export interface Comparison {
  readonly id: string;
  readonly family: string;
  /** Who answered, and as which model. */
  readonly group: string;
  readonly reported: number;
  readonly estimated: number;
  /** What the estimate is made from. */
  readonly outline: Outline;
  readonly texts: TextCounts;
  readonly row: Family;
}

/** Why a recording's count says nothing about its request. */
const elsewhere: Readonly<Record<string, string>> = {
  'messages-anthropic-stream-dbf33df8': 'counted after its own context was edited away',
  'messages-anthropic-json-83d74ba8': 'one word repeated a thousand times',
};

/** Every recording with a count that can be compared. */
export function compareAll(recordings: readonly Recording[]): readonly Comparison[] {
  return recordings.flatMap((recording) => compare(recording) ?? []);
}

function compare(recording: Recording): Comparison | null {
  const { id, protocol, status, request } = recording;
  if (status !== 200 || request === null || elsewhere[id] !== undefined) return null;
  const usage = usageIn(recording);
  if (usage === null) return null;
  const reported = usage.input + usage.cache_read + usage.cache_write + usage.cache_write_1h;
  // Some servers report none.
  if (reported < 2) return null;
  const model = modelOf(recording);
  const decoded = decode(recording, model);
  if (decoded === null || !isSelfContained(request, decoded)) return null;
  const outline = outlineRequest(decoded);
  const texts = { said: countTexts(outline.said), defined: countTexts(outline.defined) };
  const row = familyOf({ model, protocol });
  const vendor = id.slice(protocol.length + 1).replace(/-(json|stream|event).*$/, '');
  return {
    id,
    family: row.name,
    group: `${vendor} ${model}`,
    reported,
    estimated: weigh(outline, texts, row),
    outline,
    texts,
    row,
  };
}

function modelOf({ protocol, endpoint, request, body, sse }: Recording): string {
  const answered = /"model(?:Version)?":\s?"([^"]+)"/.exec(sse ?? JSON.stringify(body))?.[1];
  const inPath = /models\/([^:?{}]+)/.exec(endpoint)?.[1];
  const asked = protocol === 'generate-content' ? inPath : (request?.['model'] as string);
  return asked ?? answered ?? 'unknown';
}

function decode({ protocol, request }: Recording, model: string): GenerationRequest | null {
  const path = { operation: 'generate', model, stream: null } as const;
  const body = Buffer.from(JSON.stringify({ ...request, model }));
  const { openRequest, readRequest } = textProtocols[protocol];
  return textCodecs[protocol].decodeRequest(readRequest(openRequest(body, path)));
}

/** Is all that was counted in the request? Not so what a provider keeps, fetches, or adds by tools of its own. */
function isSelfContained(request: object, { tools, turns }: GenerationRequest): boolean {
  const kept =
    /"(previous_response_id|mcp_servers|container|cachedContent|item_reference|prompt)":/;
  const blocks = turns
    .flatMap((turn) => turn.blocks)
    .flatMap((block) => (block.type === 'tool-result' ? block.content : [block]));
  return (
    !kept.test(JSON.stringify(request)) &&
    !/compound/.test(JSON.stringify(request)) &&
    tools.every((tool) => tool.type !== 'hosted' && !('typed' in tool)) &&
    blocks.every(
      (block) => block.type !== 'opaque' && (!('source' in block) || block.source.kind === 'data'),
    )
  );
}

export interface Errors {
  readonly requests: number;
  /** Shares of the reported count. */
  readonly median: number;
  readonly p90: number;
  /** Tokens. */
  readonly medianTokens: number;
  /** Share of requests taken for too small by more than a twentieth and by more than two tokens. */
  readonly under: number;
}

export function errorsOf(comparisons: readonly Comparison[]): Errors {
  const shares = sorted(comparisons, ({ reported, estimated }) =>
    Math.abs(estimated / reported - 1),
  );
  const tokens = sorted(comparisons, ({ reported, estimated }) => Math.abs(estimated - reported));
  const under = comparisons.filter(
    ({ reported, estimated }) => estimated < reported * 0.95 && estimated < reported - 2,
  );
  return {
    requests: comparisons.length,
    median: at(shares, 0.5),
    p90: at(shares, 0.9),
    medianTokens: at(tokens, 0.5),
    under: under.length / comparisons.length,
  };
}

function sorted(
  comparisons: readonly Comparison[],
  errorOf: (comparison: Comparison) => number,
): number[] {
  return comparisons.map(errorOf).toSorted((a, b) => a - b);
}

function at(values: readonly number[], share: number): number {
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
}
