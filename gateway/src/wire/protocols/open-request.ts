import { parseObject, type WatchedObject } from '#json/index.ts';
import type { Protocol, RequestPath } from './protocol.ts';
import { readModel } from './request-values.ts';
import type { JsonRecord } from './values.ts';

/**
 * A protocol's `openRequest`: one scan and one parse of the body, then the model.
 * @param watched members whose places the scan keeps
 * @param modelOf reads the model where it is not in the body; throws GatewayError `model_required`
 */
export function createOpenRequest(
  watched: WatchedObject,
  modelOf: (path: RequestPath, json: JsonRecord) => string = (_path, json) =>
    readModel(json['model']),
): Protocol['openRequest'] {
  return (body, path, room) => {
    const { scan, value: json, budget } = parseObject(body, watched, room);
    return { path, body, scan, json, budget, model: modelOf(path, json) };
  };
}
