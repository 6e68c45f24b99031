import { ark } from '../ark/protocol.ts';
import type { Endpoint } from '../http/call.ts';
import type { Route } from '../http/routes.ts';
import * as contents from './ark/endpoints.ts';
import * as synthesis from './dashscope/endpoints.ts';
import { dashscope } from './dashscope/protocol.ts';
import type { Tasks } from './tasks.ts';

/** Finds the endpoint of a video path; null for any other path. */
export function createVideoRouter(tasks: Tasks): (method: string, path: string) => Route | null {
  const submitSynthesis = synthesis.createSubmit(tasks);
  const lookAtSynthesis = synthesis.createLook(tasks);
  const cancelSynthesis = synthesis.createCancel(tasks);
  const ofContents: Readonly<Record<string, Endpoint>> = {
    'POST ': contents.createSubmit(tasks),
    'GET ': contents.createList(tasks),
    'GET id': contents.createLook(tasks),
    'DELETE id': contents.createDelete(tasks),
  };
  return (method, path) => {
    if (path === synthesisPath) return routeOf(dashscope, method === 'POST' && submitSynthesis, '');
    const task = taskPath.exec(path);
    if (task !== null) {
      const [, id = '', cancel] = task;
      if (cancel !== undefined) return routeOf(dashscope, method === 'POST' && cancelSynthesis, id);
      return routeOf(dashscope, method === 'GET' && lookAtSynthesis, id);
    }
    const found = contentsPath.exec(path);
    if (found === null) return null;
    const [, id = ''] = found;
    return routeOf(ark, ofContents[`${method} ${id === '' ? '' : 'id'}`] ?? false, id);
  };
}

const synthesisPath = '/api/v1/services/aigc/video-generation/video-synthesis';
const taskPath = /^\/api\/v1\/tasks\/([^/]+)(\/cancel)?$/;
const contentsPath = /^\/api\/v3\/contents\/generations\/tasks(?:\/([^/]+))?$/;

/** A look has no body and no model of its own. */
function routeOf(protocol: Route['protocol'], endpoint: Endpoint | false, id: string): Route {
  return {
    protocol,
    ...(endpoint !== false && { endpoint }),
    id,
    isChanging: true,
    ...(id !== '' && { model: '' }),
  };
}
