import type { ReportedUsage } from '#canonical/index.ts';
import { keyBytes, splice } from '#json/index.ts';
import { echoModel } from '../../echo.ts';
import { type ResponseEcho, UnreadableResponse, type WireResponse } from '../../protocol.ts';
import { readAnswer } from '../../read-response.ts';
import type { JsonRecord } from '../../values.ts';
import { readGivenState } from './state-members.ts';
import { echoToolNames } from './tool-name-echo.ts';
import { readUsage, readWholeUsage } from './usage.ts';

const modelPath = [keyBytes('model')];

/** Accepts a message, or a token count, which has no usage. @throws UnreadableResponse */
export function readResponse(body: Buffer, echo: ResponseEcho): WireResponse {
  const answer = readAnswer(body, usageOf);
  if (Array.isArray(answer['content'])) {
    const { toolNames } = echo;
    const named =
      toolNames === undefined ? body : splice(body, echoToolNames(body, answer, toolNames));
    const given = readGivenState(answer);
    return {
      body: echoModel(named, modelPath, echo),
      usage: readWholeUsage(answer['usage']),
      given,
    };
  }
  if (typeof answer['input_tokens'] === 'number') return { body, usage: null };
  throw new UnreadableResponse('the answer is not a message', answer, usageOf(answer));
}

function usageOf(answer: JsonRecord): ReportedUsage | null {
  return readUsage(answer['usage']);
}
