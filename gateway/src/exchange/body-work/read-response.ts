import { lacks } from '#canonical/index.ts';
import type { ResponseReader } from '#conversion/index.ts';
import {
  estimateOutputTokens,
  mergeReports,
  textProtocols,
  type WireResponse,
} from '#protocols/index.ts';
import type { ResponseResult } from './response-result.ts';
import { asBuffer } from './bytes.ts';
import type { Job } from './jobs.ts';
import { readOrReport } from './unreadable.ts';
import { beginsAsEvents, streamOf, wholeOf, type WireProtocol } from './other-form.ts';

/** A complete response is held in memory before the client sees it; this is its limit. */
export const largestResponse = 64 * 1024 * 1024;

/**
 * Reads a complete response, which some upstreams send as a stream although none was requested.
 * @param wire the upstream's protocol; null: it has no other form
 * @throws UnreadableResponse
 */
export function readWholeResponse(
  body: Buffer,
  wire: WireProtocol | null,
  reader: Pick<ResponseReader, 'readResponse'>,
  echo: Parameters<ResponseReader['readResponse']>[1],
): WireResponse {
  if (wire === null || !beginsAsEvents(body)) return reader.readResponse(body, echo);
  const joined = wholeOf(body, wire, echo.upstreamModel, largestResponse);
  const response = reader.readResponse(joined.body, echo);
  return { ...response, usage: mergeReports(joined.usage, response.usage) };
}

/**
 * @param reader the client's side of a converted response; null: client and upstream use the same protocol
 * @param learnt other results of the reading, for the main thread
 */
export function readResponseJob(
  { body, upstream, echo, form }: Extract<Job, { kind: 'response' }>,
  reader: ResponseReader | null,
  learnt: () => Pick<Extract<ResponseResult, { kind: 'whole' }>, 'losses' | 'kept'>,
): ResponseResult {
  const wire = textProtocols[upstream];
  const bytes = asBuffer(body);
  return readOrReport((): ResponseResult => {
    if (form === 'stream') {
      return { kind: 'stream', body: streamOf(bytes, wire, echo.upstreamModel) };
    }
    const response = readWholeResponse(bytes, wire, reader ?? wire, echo);
    const { given } = response;
    return { kind: 'whole', ...response, given, outputTokens: estimateOf(response), ...learnt() };
  });
}

function estimateOf({ body, usage }: WireResponse): number | null {
  if (usage !== null && !lacks(usage, 'output')) return null;
  return estimateOutputTokens(JSON.parse(body.toString('utf8')));
}
