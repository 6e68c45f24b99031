import type { ReportedUsage } from '#canonical/index.ts';
import { keyBytes } from '#json/index.ts';
import { brokenEndingError, isBrokenEnding } from '../../broken-ending.ts';
import { failureObject } from '../../error-object.ts';
import { echoModel } from '../../echo.ts';
import { readInclusiveUsage } from '../../inclusive-usage.ts';
import { type ModelEcho, UnreadableResponse, type WireResponse } from '../../protocol.ts';
import { parseResponse } from '../../read-response.ts';
import { readGivenState } from './state-members.ts';
import { recordsIn } from '../../input-extent.ts';
import { recordAt, type JsonRecord } from '../../values.ts';
import { usageIn } from './usage-places.ts';

const modelPath = [keyBytes('model')];

/** @throws UnreadableResponse */
export function readResponse(body: Buffer, echo: ModelEcho): WireResponse {
  const response = parseResponse(body, usageOf);
  if (!Array.isArray(response['choices'])) {
    throw new UnreadableResponse('the response has no choices', response, usageOf(response));
  }
  const ofChoice = errorOfChoice(response);
  const error = ofChoice === undefined ? brokenEndingOf(response) : failureObject(ofChoice);
  if (error !== undefined) {
    throw new UnreadableResponse('the response broke off', error, usageOf(response));
  }
  const given = readGivenState(response);
  return { body: echoModel(body, modelPath, echo), usage: usageOf(response), given };
}

/** What some servers and routers (OpenRouter) write beside what a choice had got so far. */
export function errorOfChoice(response: JsonRecord | null): unknown {
  const failed = recordsIn(response?.['choices']).find(({ error }) => Boolean(error));
  return failed?.['error'];
}

function brokenEndingOf(response: JsonRecord): unknown {
  for (const { finish_reason: reason } of recordsIn(response['choices'])) {
    if (isBrokenEnding('chat', reason)) return brokenEndingError(reason);
  }
  return undefined;
}

function usageOf(response: JsonRecord): ReportedUsage | null {
  return readInclusiveUsage(
    usageIn(response),
    response['service_tier'],
    hasCitations(response) ? 1 : 0,
  );
}

/** Whether the response cites the web: nothing else in it shows that there was a search. */
function hasCitations(response: JsonRecord): boolean {
  return recordsIn(response['choices']).some((choice) =>
    recordsIn(recordAt(choice, 'message')['annotations']).some(
      ({ type }) => type === 'url_citation',
    ),
  );
}
