import type { ReportedUsage } from '#canonical/index.ts';
import { keyBytes } from '#json/index.ts';
import { brokenEndingError, isBrokenStatus } from '../../shared/text/endings.ts';
import { echoModel } from '../../shared/text/echo.ts';
import { readInclusiveUsage } from '../../shared/usage/inclusive-usage.ts';
import { type ModelEcho, UnreadableResponse, type WireResponse } from '../../protocol.ts';
import { parseResponse, readEndings } from '../../shared/text/parse-bodies.ts';
import { readGivenState } from './state-members.ts';
import { recordAt, type JsonRecord, recordsIn } from '../../shared/values.ts';
import { countAt } from '../../shared/usage/terms.ts';

const modelPath = [keyBytes('model')];

/** @throws UnreadableResponse also for a response that broke off. */
export function readResponse(body: Buffer, echo: ModelEcho): WireResponse {
  const response = parseResponse(body, usageOf);
  const { status, background } = response;
  if (isBrokenStatus(status, background)) {
    const error = brokenEndingError(status);
    throw new UnreadableResponse('the response broke off', error, usageOf(response));
  }
  if (!Array.isArray(response['output'])) {
    throw new UnreadableResponse(
      'the body is not a response with output',
      response,
      usageOf(response),
    );
  }
  const usage = readEndings('responses', endingsOf(response), response, usageOf(response));
  const storedNames = readGivenState(response);
  return { body: echoModel(body, modelPath, echo), usage, storedNames };
}

/** A response in the background has not ended. */
function endingsOf(response: JsonRecord): unknown[] {
  const { status, background } = response;
  return background === true ? [] : [status, recordAt(response, 'incomplete_details')['reason']];
}

function usageOf(response: JsonRecord): ReportedUsage | null {
  return readInclusiveUsage(
    response['usage'],
    response['service_tier'],
    searchesIn(response),
    imageTokensIn(response),
  );
}

/** The searches of a whole response: the number of their items, or the count in `tool_usage` if larger. */
export function searchesIn(response: JsonRecord): number {
  let items = 0;
  for (const item of recordsIn(response['output'])) if (isSearch(item)) items += 1;
  return Math.max(items, countAt(response, ['tool_usage', 'web_search', 'num_requests']));
}

/** The tokens of the tool `image_generation`, which its own image model used: the usage does not include them. */
export function imageTokensIn(response: JsonRecord): number {
  return (
    countAt(response, ['tool_usage', 'image_gen', 'input_tokens']) +
    countAt(response, ['tool_usage', 'image_gen', 'output_tokens'])
  );
}

/** Whether the call is a search. Opening a page and finding text in it are free. */
export function isSearch(item: JsonRecord): boolean {
  if (item['type'] !== 'web_search_call') return false;
  const { type } = recordAt(item, 'action');
  return type === undefined || type === 'search';
}
