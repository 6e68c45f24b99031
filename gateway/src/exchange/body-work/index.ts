export {
  createBodyPool,
  type ArgsOf,
  type BodyPool,
  type RunningCall,
  type ValueOf,
  type Weights,
} from './body-pool.ts';
export { functions, namesOf, valueOf, type Later } from './functions.ts';
export {
  beginsAsEvents,
  beginsAsJson,
  largestResponse as largestAnswer,
  readWholeResponse,
  streamOf,
  type WireProtocol,
} from './read-response.ts';
export {
  patchText,
  type PatchedBody,
  type Patching,
  type RequestFacts,
  type ThreadRequest,
} from './text-functions.ts';
export { isReadInThread, largeResponse } from './body-pool.ts';
