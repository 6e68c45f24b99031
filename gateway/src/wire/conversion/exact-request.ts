import { type Codec, passingOn, type WireRequest } from '#protocols/index.ts';

/** Settings such as `temperature` stand in the body itself. */
const belowSettings = 1;

/** The request with the numbers that it passes on as they were written; itself when they are that already. */
export function exactRequest(request: WireRequest, { passedOn }: Codec): WireRequest {
  const json = passingOn(request.json, request.body, passedOn, belowSettings);
  return json === request.json ? request : { ...request, json };
}
