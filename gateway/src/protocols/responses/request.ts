import { parseObject, watchList } from '../../json/index.ts';
import type { OpenedRequest, RequestPath, WireRequest } from '../protocol.ts';
import { readCount, readFlag, readModel, refuseValue, requireOneOf } from '../request-values.ts';
import { inputExtent } from './input-extent.ts';

const watched = watchList([
  'model',
  'input',
  'prompt',
  'stream',
  'max_output_tokens',
  'previous_response_id',
  'conversation',
  'background',
]);

/** @throws GatewayError as `Protocol.openRequest` says. */
export function openRequest(body: Buffer, path: RequestPath): OpenedRequest {
  const { scan, value: json } = parseObject(body, watched);
  return { path, body, scan, json, model: readModel(json['model']) };
}

/** @throws GatewayError as `Protocol.readRequest` says. */
export function readRequest(opened: OpenedRequest): WireRequest {
  const { json } = opened;
  // A stored prompt brings its own input.
  requireOneOf([json['input'], json['prompt']], 'input');
  const stream = readFlag(json['stream'], 'stream');
  const worksOn = readFlag(json['background'], 'background');
  // The answer would be a promise: its end, and what it costs, would never pass through here.
  if (worksOn && !stream) refuseValue('background', 'is supported with stream only');
  return {
    ...opened,
    stream,
    maxOutputTokens: readCount(json['max_output_tokens'], 'max_output_tokens', 0),
    choices: 1,
    worksOn,
    extent: inputExtent(json),
  };
}
