import type { ReportedUsage } from '#canonical/index.ts';
import { keyBytes } from '#json/index.ts';
import { echoModel } from '../../echo.ts';
import { readInclusiveUsage } from '../../inclusive-usage.ts';
import { type ModelEcho, UnreadableResponse, type WireResponse } from '../../protocol.ts';
import { readAnswer } from '../../read-response.ts';
import { readGivenState } from './state-members.ts';
import { recordsIn } from '../../input-extent.ts';
import { recordAt, type JsonRecord } from '../../values.ts';

const modelPath = [keyBytes('model')];

/** @throws UnreadableResponse */
export function readResponse(body: Buffer, echo: ModelEcho): WireResponse {
  const answer = readAnswer(body, usageOf);
  if (!Array.isArray(answer['choices'])) {
    throw new UnreadableResponse('the answer has no choices', answer, usageOf(answer));
  }
  const given = readGivenState(answer);
  return { body: echoModel(body, modelPath, echo), usage: usageOf(answer), given };
}

function usageOf(answer: JsonRecord): ReportedUsage | null {
  return readInclusiveUsage(answer['usage'], answer['service_tier'], hasCitations(answer) ? 1 : 0);
}

/** Whether the response cites the web: nothing else in it shows that there was a search. */
function hasCitations(answer: JsonRecord): boolean {
  return recordsIn(answer['choices']).some((choice) =>
    recordsIn(recordAt(choice, 'message')['annotations']).some(
      ({ type }) => type === 'url_citation',
    ),
  );
}
