import type { IncomingHttpHeaders } from 'node:http';
import { createArkImages } from '../ark/index.ts';
import { ark } from '../ark/protocol.ts';
import { createChat } from '../chat/index.ts';
import { createEmbeddings } from '../embeddings/index.ts';
import {
  createGenerate,
  createStreamGenerate,
  createTokenCounter,
} from '../generate-content/index.ts';
import { generateContentProtocol } from '../generate-content/protocol.ts';
import { isArkModel } from '../images/family.ts';
import { createEdits, createGenerations } from '../images/index.ts';
import { createMessageCounter, createMessages } from '../messages/index.ts';
import { messagesProtocol } from '../messages/protocol.ts';
import { listGoogleModels, listModels } from '../models/index.ts';
import { openai } from '../openai/protocol.ts';
import { imageAt } from '../image-files/show.ts';
import { createCompaction } from '../responses/compact.ts';
import { createInputCounter, createResponses, responsesProtocol } from '../responses/index.ts';
import { createResponseMemory } from '../responses/memory.ts';
import { clipAt } from '../videos/clip.ts';
import { createVideoRouter } from '../videos/routes.ts';
import type { Endpoint, Protocol, World } from './call.ts';

export interface Route {
  readonly protocol: Protocol;
  /** Absent for an unknown path, which gets the vendor's 404. */
  readonly endpoint?: Endpoint;
  /** The model, where the path names it. */
  readonly model?: string;
  /** Two vendors share the path, and the model decides whose forms it has. */
  readonly protocolOf?: (model: string) => Protocol;
  /** The body may be a multipart form. */
  readonly takesForm?: true;
  /** The id in the path. Absent: there is none. */
  readonly id?: string;
  /** Equal requests have different responses. Absent: they have the same. */
  readonly isChanging?: true;
}

/** Finds the endpoint of a path (without query). Headers decide between vendors that share a path. */
export type Router = (
  method: string,
  path: string,
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
) => Route;

/** The model paths of generate-content. Its current clients use `v1`, older ones `v1beta`. */
const googlePath = /^\/v1(?:beta|alpha)?\/models(?:\/(.+?))?(?::([a-zA-Z]+))?$/;

export function createRouter(world: World): Router {
  const memory = createResponseMemory();
  const exact: Readonly<Record<string, Route>> = {
    'POST /v1/chat/completions': { protocol: openai, endpoint: createChat(world) },
    'POST /v1/embeddings': { protocol: openai, endpoint: createEmbeddings },
    ...imageRoutes(world),
    'POST /v1/responses': { protocol: responsesProtocol, endpoint: createResponses(world, memory) },
    'POST /v1/responses/compact': {
      protocol: responsesProtocol,
      endpoint: createCompaction(world, memory),
    },
    'POST /v1/responses/input_tokens': {
      protocol: responsesProtocol,
      endpoint: createInputCounter(world),
    },
    'POST /v1/messages': { protocol: messagesProtocol, endpoint: createMessages(world) },
    'POST /v1/messages/count_tokens': {
      protocol: messagesProtocol,
      endpoint: createMessageCounter(world),
    },
  };
  const methods: Readonly<Record<string, Endpoint>> = {
    generateContent: createGenerate(world),
    streamGenerateContent: createStreamGenerate(world),
    countTokens: createTokenCounter(world),
  };

  const videoAt = createVideoRouter(world.tasks);

  return (method, path, headers, query) => {
    const known = exact[`${method} ${path}`];
    if (known) return known;
    const video = videoAt(method, path);
    if (video) return video;
    const clip = method === 'GET' ? clipAt(path) : null;
    if (clip) return { protocol: openForAll, endpoint: clip, model: '' };
    const image = method === 'GET' ? imageAt(path) : null;
    if (image) return { protocol: openForAll, endpoint: image, model: '' };
    if (isGoogle(path, headers, query)) return routeGoogle(method, path, methods);
    if (path.startsWith('/v1/messages')) return { protocol: messagesProtocol };
    const listed = /^\/v1\/models(?:\/(.+))?$/.exec(path);
    const protocol =
      listed && headers['anthropic-version'] !== undefined ? messagesProtocol : openai;
    if (!listed || method !== 'GET') return { protocol };
    return { protocol, endpoint: listModels, model: decodeName(listed[1]) };
  };
}

function imageRoutes(world: World): Readonly<Record<string, Route>> {
  const ofModel = { protocol: openai, protocolOf: (model: string) => protocolOf(model) };
  return {
    'POST /v1/images/generations': { ...ofModel, endpoint: createGenerations(world) },
    'POST /v1/images/edits': { ...ofModel, endpoint: createEdits(world), takesForm: true },
    'POST /api/v3/images/generations': { protocol: ark, endpoint: createArkImages(world) },
  };
}

function protocolOf(model: string): Protocol {
  return isArkModel(model) ? ark : openai;
}

/** Addresses of pictures need no credential. */
const openForAll: Protocol = { ...openai, authenticate: () => undefined };

/** Three vendors have `/v1/models`. The action or the credential identifies this one. */
function isGoogle(path: string, headers: IncomingHttpHeaders, query: URLSearchParams): boolean {
  if (/^\/v1(?:beta|alpha)\//.test(path)) return true;
  const match = googlePath.exec(path);
  if (!match) return false;
  const action = match[2];
  return (
    headers['x-goog-api-key'] !== undefined ||
    query.has('key') ||
    (action !== undefined && actions.has(action))
  );
}

const actions = new Set(['generateContent', 'streamGenerateContent', 'countTokens']);

function routeGoogle(
  method: string,
  path: string,
  methods: Readonly<Record<string, Endpoint>>,
): Route {
  const protocol = generateContentProtocol;
  const match = googlePath.exec(path);
  if (!match) return { protocol };
  const [, name, action] = match;
  const model = decodeName(name);
  if (action === undefined && method === 'GET') {
    return { protocol, endpoint: listGoogleModels, model };
  }
  const endpoint = method === 'POST' && action !== undefined ? methods[action] : undefined;
  return endpoint ? { protocol, endpoint, model } : { protocol };
}

/** A name that is not valid percent-encoding is taken literally. */
function decodeName(name: string | undefined): string {
  try {
    return decodeURIComponent(name ?? '');
  } catch {
    return name ?? '';
  }
}
