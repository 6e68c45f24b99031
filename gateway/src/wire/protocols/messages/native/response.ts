import type { ReportedUsage } from '#canonical/index.ts';
import { keyBytes, splice, type Edit } from '#json/index.ts';
import { echoModel } from '../../shared/text/echo.ts';
import { type ResponseEcho, UnreadableResponse, type WireResponse } from '../../protocol.ts';
import { parseResponse, readEndings } from '../../shared/text/parse-bodies.ts';
import { type JsonRecord, isRecord } from '../../shared/values.ts';
import { readGivenState } from './state-members.ts';
import { readUsage } from './usage.ts';
import { Copies } from './repairs/draft.ts';
import { editsBetween } from './repairs/edits.ts';
import { renameInBlock, renameInBlocks } from './repairs/tool-names.ts';

const modelPath = [keyBytes('model')];

/** Accepts a message, or a token count, which has no usage. @throws UnreadableResponse */
export function readResponse(body: Buffer, echo: ResponseEcho): WireResponse {
  const response = parseResponse(body, usageOf);
  if (Array.isArray(response['content'])) {
    const usage = readEndings('messages', [response['stop_reason']], response, usageOf(response));
    const { toolNames } = echo;
    const renamedBody =
      toolNames === undefined ? body : splice(body, echoToolNames(body, response, toolNames));
    const given = readGivenState(response);
    return { body: echoModel(renamedBody, modelPath, echo), usage, given };
  }
  if (typeof response['input_tokens'] === 'number') return { body, usage: null };
  throw new UnreadableResponse('the response is not a message', response, usageOf(response));
}

function usageOf(response: JsonRecord): ReportedUsage | null {
  return readUsage(response['usage']);
}

/** The client's names, by the upstream's. */
export type ToolNames = ReadonlyMap<string, string>;

/** The edits that restore the client's tool names in a whole message. */
function echoToolNames(body: Buffer, message: JsonRecord, names: ToolNames): Edit[] {
  const { content } = message;
  const copies = new Copies();
  const next = renameInBlocks(copies, content, (name) => names.get(name) ?? name);
  return edits(body, message, 'content', next, copies);
}

/** The same for the event that begins a block. */
export function echoBlockNames(data: Buffer, event: JsonRecord, names: ToolNames): Edit[] {
  const block = event['content_block'];
  if (!isRecord(block)) return [];
  const copies = new Copies();
  const next = renameInBlock(copies, block, (name) => names.get(name) ?? name);
  return edits(data, event, 'content_block', next, copies);
}

function edits(
  body: Buffer,
  root: JsonRecord,
  member: string,
  next: unknown,
  copies: Copies,
): Edit[] {
  if (next === root[member]) return [];
  return editsBetween(body, root, copies.change(root, { [member]: next }), copies.origins);
}
