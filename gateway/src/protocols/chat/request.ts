import { parseObject, watchList } from '../../json/index.ts';
import type { OpenedRequest, RequestPath, WireRequest } from '../protocol.ts';
import { checkRange, readCount, readFlag, readModel, requireOneOf } from '../request-values.ts';
import { inputExtent } from './input-extent.ts';

const watched = watchList([
  'model',
  'messages',
  'stream',
  'stream_options.include_usage',
  'temperature',
  'n',
  'max_tokens',
  'max_completion_tokens',
]);

/** @throws GatewayError as `Protocol.openRequest` says. */
export function openRequest(body: Buffer, path: RequestPath): OpenedRequest {
  const { scan, value: json } = parseObject(body, watched);
  return { path, body, scan, json, model: readModel(json['model']) };
}

/** @throws GatewayError as `Protocol.readRequest` says. */
export function readRequest(opened: OpenedRequest): WireRequest {
  const { json } = opened;
  requireOneOf([json['messages']], 'messages');
  checkRange(json['temperature'], 'temperature', 0, 2);
  // Upstreams disagree on which of the two counts when both are sent; the larger one bounds the cost.
  const newer = readCount(json['max_completion_tokens'], 'max_completion_tokens', 0);
  const older = readCount(json['max_tokens'], 'max_tokens', 0);
  return {
    ...opened,
    stream: readFlag(json['stream'], 'stream'),
    maxOutputTokens: newer === null ? older : Math.max(newer, older ?? 0),
    choices: readCount(json['n'], 'n', 1) ?? 1,
    extent: inputExtent(json),
  };
}
