import type { ReportedUsage } from '#canonical/index.ts';
import { keyBytes, splice } from '#json/index.ts';
import { echoModel } from '../../shared/text/echo.ts';
import { type ResponseEcho, UnreadableResponse, type WireResponse } from '../../protocol.ts';
import { parseResponse, readEndings } from '../../shared/text/parse-bodies.ts';
import type { JsonRecord } from '../../shared/values.ts';
import { readGivenState } from './state-members.ts';
import { echoToolNames } from './tool-name-echo.ts';
import { readUsage } from './usage.ts';

const modelPath = [keyBytes('model')];

/** Accepts a message, or a token count, which has no usage. @throws UnreadableResponse */
export function readResponse(body: Buffer, echo: ResponseEcho): WireResponse {
  const response = parseResponse(body, usageOf);
  if (Array.isArray(response['content'])) {
    const usage = readEndings('messages', [response['stop_reason']], response, usageOf(response));
    const { toolNames } = echo;
    const named =
      toolNames === undefined ? body : splice(body, echoToolNames(body, response, toolNames));
    const given = readGivenState(response);
    return { body: echoModel(named, modelPath, echo), usage, given };
  }
  if (typeof response['input_tokens'] === 'number') return { body, usage: null };
  throw new UnreadableResponse('the response is not a message', response, usageOf(response));
}

function usageOf(response: JsonRecord): ReportedUsage | null {
  return readUsage(response['usage']);
}
