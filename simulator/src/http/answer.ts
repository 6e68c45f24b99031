import type { IncomingHttpHeaders } from 'node:http';
import { splitModel, splitPath } from '../faults/ask.ts';
import type { FaultCounter } from '../faults/counter.ts';
import { distortReply } from '../faults/distort.ts';
import { noFault, parseFault, shapeOf, type Fault } from '../faults/fault.ts';
import { parseJson, stringAt } from '../json.ts';
import { Rejection } from '../rejection.ts';
import type { Replayer } from '../replay/recording.ts';
import { identify } from '../scenario/identity.ts';
import { remembersPrompts } from '../messages/prompt-cache.ts';
import type { ReplyCache } from './cache.ts';
import { isForm, parseForm, type FormPart } from './form.ts';
import type { Reply } from './reply.ts';
import type { Route, Router } from './routes.ts';

export interface Request {
  readonly method: string;
  /** Path with query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Decoded; undefined if the content encoding is unknown or broken. */
  readonly body: Buffer | undefined;
}

/** What to send and how. `faultText` is the fault that applied, for the log. */
export interface PlannedReply {
  readonly reply: Reply;
  readonly fault: Fault;
  readonly faultText: string;
  /** The parts of a multipart body, for the log. */
  readonly form: readonly FormPart[] | null;
}

export interface AnswerParts {
  readonly route: Router;
  readonly faults: FaultCounter;
  /** The fault that every request has until further notice, '' for none. */
  standingFault(): string;
  /** The same for requests that ask for video tasks. */
  lookFault(): string;
  readonly replay: Replayer;
  readonly cache: ReplyCache;
}

/** Turns a request into its response: the endpoint, the fault, the content. */
export async function answerRequest(request: Request, parts: AnswerParts): Promise<PlannedReply> {
  const { path: target, fault: pathFault } = splitPath(request.target);
  const [path = '', search = ''] = target.split('?', 2);
  const query = new URLSearchParams(search);
  const route = parts.route(request.method, path, request.headers, query);
  const { body, form, formError } = readContent(request, route);
  const named = splitModel(route.model ?? modelIn(body, form));
  const protocol = route.protocolOf?.(named.model) ?? route.protocol;

  const header = headerText(request.headers, 'x-simulator-fault');
  const looks = route.isChanging === true && request.method === 'GET' ? parts.lookFault() : '';
  const texts = [parts.standingFault(), looks, pathFault, named.fault, header];
  const asked = texts.filter((text) => text !== '').join(';');
  const parsed = asked === '' ? noFault : parseFault(asked);
  if (typeof parsed === 'string') return plain(protocol.reject(new Rejection(400, parsed)));
  const applies = parts.faults.applies(asked, parsed.times);
  const fault = applies ? parsed : noFault;

  const replayed = replayId(request.headers, named.model);
  if (replayed !== '') {
    const reply = await parts.replay(replayed);
    if (typeof reply === 'string') return plain(protocol.reject(new Rejection(404, reply)));
    return { reply: distortReply(reply, fault, protocol), fault, faultText: asked, form };
  }

  const produce = (): Reply => {
    const identity = identify(request.body ?? Buffer.alloc(0));
    try {
      protocol.authenticate(request.headers, query);
      if (!route.endpoint) throw new Rejection(404, `Invalid URL (${request.method} ${path})`);
      if (request.body === undefined) throw new Rejection(400, 'Unsupported content encoding.');
      if (formError !== '') throw new Rejection(400, formError);
      if (request.method === 'POST' && body === undefined && form === null) throw unreadable;
      const { headers } = request;
      const shape = shapeOf(fault);
      const { model } = named;
      const isRefused = (fault.status ?? 200) >= 400 || fault.refuse === true;
      const { id = '' } = route;
      const { endpoint } = route;
      return endpoint({ model, body, form, headers, query, id, isRefused, identity, shape });
    } catch (error) {
      if (error instanceof Rejection) return protocol.reject(error);
      throw error;
    }
  };
  const reply =
    route.isChanging === true || remembersPrompts(named.model)
      ? produce()
      : parts.cache(request, target, applies ? asked : '', produce);
  return {
    form,
    reply: fault === noFault ? reply : distortReply(reply, fault, protocol),
    fault,
    faultText: applies ? asked : '',
  };
}

interface Content {
  readonly body: unknown;
  readonly form: readonly FormPart[] | null;
  /** What is wrong with the form, '' for nothing. */
  readonly formError: string;
}

function readContent(request: Request, route: Route): Content {
  const empty = { body: undefined, form: null, formError: '' };
  if (request.body === undefined) return empty;
  const contentType = request.headers['content-type'];
  if (route.takesForm !== true || !isForm(contentType)) {
    return { ...empty, body: parseJson(request.body.toString('utf8')) };
  }
  const form = parseForm(request.body, contentType ?? '');
  return typeof form === 'string' ? { ...empty, formError: form } : { ...empty, form };
}

function modelIn(body: unknown, form: readonly FormPart[] | null): string {
  const field = form?.find((part) => part.name === 'model' && part.filename === null);
  return field ? field.bytes.toString('utf8') : stringAt(body, 'model');
}

const unreadable = new Rejection(400, 'Could not parse the JSON body of the request.');

function plain(reply: Reply): PlannedReply {
  return { reply, fault: noFault, faultText: '', form: null };
}

function headerText(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value.join(';') : value) ?? '';
}

function replayId(headers: IncomingHttpHeaders, model: string): string {
  const header = headerText(headers, 'x-simulator-replay');
  return header === '' && model.startsWith('replay:') ? model.slice('replay:'.length) : header;
}
