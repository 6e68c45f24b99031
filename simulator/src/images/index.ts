import { createArkImages } from '../ark/index.ts';
import type { Call, Endpoint, World } from '../http/call.ts';
import { streamReply, type Reply } from '../http/reply.ts';
import { isPresent } from '../json.ts';
import { checkModelExists, openai, requestIdHeader, requireObject } from '../openai/protocol.ts';
import { imageJson } from '../image-files/show.ts';
import { Rejection } from '../rejection.ts';
import { anything } from './checks.ts';
import { familyOf, isArkModel } from './family.ts';
import { checkImageMembers } from './members.ts';
import { readOrder, type ImageOrder } from './order.ts';
import { readEdit, readReferences } from './read-edit.ts';
import { renderEvents, renderImages } from './render.ts';

/** `POST /v1/images/generations` */
export function createGenerations(world: World): Endpoint {
  const arkImages = createArkImages(world);
  return (given) => {
    const call = withModel(given);
    if (isArkModel(call.model)) return arkImages(call);
    checkModelExists(call.model);
    const body = requireObject(call.body);
    const demo = familyOf(call.model) === 'demo';
    checkImageMembers(body, call.model, demo ? { image: anything } : {});
    const sources = isPresent(body['image']) ? readReferences(body['image']).length : 0;
    if (sources > 0 && body['stream'] === true) {
      throw new Rejection(400, "'stream' is not supported together with 'image'.", {
        param: 'stream',
        code: 'invalid_value',
      });
    }
    return respond(world, call, readOrder(call, body, sources, false));
  };
}

/** `POST /v1/images/edits`, as a form or as JSON */
export function createEdits(world: World): Endpoint {
  return (given) => {
    const call = withModel(given);
    if (isArkModel(call.model)) {
      throw new Rejection(404, 'The model does not support image edits.');
    }
    checkModelExists(call.model);
    const { body, sources } = readEdit(call);
    return respond(world, call, readOrder(call, body, sources.length, true));
  };
}

/** The vendor's oldest model responds to requests that name none. */
function withModel(call: Call): Call {
  return call.model === '' ? { ...call, model: 'dall-e-2' } : call;
}

function respond(world: World, call: Call, order: ImageOrder): Reply {
  const { refusal } = order.words;
  const created = world.created();
  if (!order.stream) {
    if (refusal !== null) throw refused(order);
    return imageJson(renderImages(call, order, created), requestIdHeader);
  }
  if (refusal === 'prompt') throw refused(order);
  // What is drawn is judged last, when the stream has begun.
  const events = renderEvents(call, order, created);
  const partials = events.filter(({ event }) => event?.endsWith('.partial_image'));
  const sent = refusal === null ? events : [...partials, openai.errorEvent(refused(order))];
  return streamReply(sent, requestIdHeader);
}

function refused({ family }: ImageOrder): Rejection {
  const isOld = family === 'dall-e-2' || family === 'dall-e-3';
  return new Rejection(
    400,
    'Your request was rejected by the safety system. If you believe this is an error, contact us and include the request ID.',
    isOld
      ? { code: 'content_policy_violation' }
      : { code: 'moderation_blocked', type: 'image_generation_user_error' },
  );
}
