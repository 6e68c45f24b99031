import { parseObject, watchList } from '../../json/index.ts';
import type { OpenedRequest, RequestPath, WireRequest } from '../protocol.ts';
import { readCount, readFlag, readModel, requireOneOf } from '../request-values.ts';
import { inputExtent } from './input-extent.ts';
import { readNumeral, readYesNo } from './repairs/index.ts';

const watched = watchList(['model', 'messages', 'stream', 'max_tokens', 'temperature']);

/** @throws GatewayError as `Protocol.openRequest` says. */
export function openRequest(body: Buffer, path: RequestPath): OpenedRequest {
  const { scan, value: json } = parseObject(body, watched);
  return { path, body, scan, json, model: readModel(json['model']) };
}

/** @throws GatewayError as `Protocol.readRequest` says. */
export function readRequest(opened: OpenedRequest): WireRequest {
  const { json } = opened;
  requireOneOf([json['messages']], 'messages');
  return {
    ...opened,
    stream: readFlag(readYesNo(json['stream']), 'stream'),
    maxOutputTokens: readCount(readNumeral(json['max_tokens']), 'max_tokens', 0),
    choices: 1,
    extent: inputExtent(json),
  };
}
