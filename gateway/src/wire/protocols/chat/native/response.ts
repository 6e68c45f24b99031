import type { ReportedUsage } from '#canonical/index.ts';
import { keyBytes } from '#json/index.ts';
import { failureObject } from '../../shared/text/error-object.ts';
import { echoModel } from '../../shared/text/echo.ts';
import { readInclusiveUsage } from '../../shared/usage/inclusive-usage.ts';
import { type ModelEcho, UnreadableResponse, type WireResponse } from '../../protocol.ts';
import { parseResponse, readEndings } from '../../shared/text/parse-bodies.ts';
import type { StateName } from '../../shared/state/named-state.ts';
import { recordAt, type JsonRecord, isAbsent, isRecord, recordsIn } from '../../shared/values.ts';

const modelPath = [keyBytes('model')];

/** @throws UnreadableResponse */
export function readResponse(body: Buffer, echo: ModelEcho): WireResponse {
  const response = parseResponse(body, usageOf);
  if (!Array.isArray(response['choices'])) {
    throw new UnreadableResponse('the response has no choices', response, usageOf(response));
  }
  const error = errorOfChoice(response);
  if (error !== undefined) {
    const failure = failureObject(error);
    throw new UnreadableResponse('the response broke off', failure, usageOf(response));
  }
  const reasons: unknown[] = [];
  const storedNames: StateName[] = [];
  for (const choice of recordsIn(response['choices'])) {
    reasons.push(choice['finish_reason']);
    // A spoken response, which later requests may name.
    const { id } = recordAt(recordAt(choice, 'message'), 'audio');
    if (typeof id === 'string') storedNames.push({ kind: 'audio', id });
  }
  return {
    body: echoModel(body, modelPath, echo),
    usage: readEndings('chat', reasons, response, usageOf(response)),
    ...(storedNames.length > 0 && { storedNames }),
  };
}

/** What some servers and routers (OpenRouter) write beside what a choice had got so far. */
export function errorOfChoice(response: JsonRecord | null): unknown {
  const failed = recordsIn(response?.['choices']).find(({ error }) => Boolean(error));
  return failed?.['error'];
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

/**
 * Where servers report usage if not in `usage`, the first place first:
 *
 * - `choices[].usage`: Moonshot, in the last chunk of a choice, and again in a chunk of its own if that was asked for
 *   (https://github.com/northes/go-moonshot/issues/17);
 * - `choices[].message.usage`, `choices[].delta.usage`;
 * - an object of the server's own: Groq's `x_groq.usage` (https://console.groq.com/docs/api-reference#chat-create);
 * - `metricsMember`.
 */
function usageIn(response: JsonRecord): unknown {
  if (holdsUsage(response['usage'])) return response['usage'];
  for (const choice of recordsIn(response['choices'])) {
    const places = [choice, recordAt(choice, 'message'), recordAt(choice, 'delta')];
    const usagePlace = places.find(({ usage }) => holdsUsage(usage));
    if (usagePlace !== undefined) return usagePlace['usage'];
  }
  for (const member of Object.values(response)) {
    if (isRecord(member) && holdsUsage(member['usage'])) return member['usage'];
  }
  return response[metricsMember];
}

/**
 * Amazon Bedrock counts in the last chunk of any stream, and Kimi's streams there have no other usage
 * (https://docs.aws.amazon.com/bedrock/latest/userguide/inference-invoke.html).
 */
const metricsMember = 'amazon-bedrock-invocationMetrics';
export const metricsKey = keyBytes(metricsMember);

function holdsUsage(value: unknown): boolean {
  return isRecord(value) && Object.values(value).some((member) => !isAbsent(member));
}
