import { type Codec, passingOn, type WireRequest } from '#protocols/index.ts';

/** Settings such as `temperature` are members of the body itself. */
const belowSettings = 1;

/** The request with its passed-on numbers as the client wrote them; the same object if they already are. */
export function exactRequest(request: WireRequest, { passedOn }: Codec): WireRequest {
  const json = passingOn(request.json, request.body, passedOn, belowSettings);
  return json === request.json ? request : { ...request, json };
}
