import type { PictureCall } from '#canonical/index.ts';
import type { BodyClaim, BodyMemory } from '#bodies/index.ts';
import type { Model } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { pictureTool } from '#protocols/index.ts';
import { asGatewayError } from '../../exchange/finish.ts';
import type { RequestMemory } from '../../exchange/input.ts';
import type { Operation } from '../../exchange/operation.ts';
import { runExchange } from '../../exchange/run-exchange.ts';
import type { TextInput } from '../../text/input.ts';
import type { PictureParts } from '../converted/parts.ts';
import { createPictureOperation } from '../converted/picture-operation.ts';
import { CollectedItem } from './collected-item.ts';
import { toolSurface } from './tool-surface.ts';

/** Pictures of one response. Each is an exchange of its own, and one model should not start many. */
const mostPictures = 4;

export interface PictureToolParts extends PictureParts {
  readonly bodyMemory: Pick<BodyMemory, 'open'>;
}

/** The pictures of one response. They hold memory until they are released. */
export interface DrawnPictures {
  /** By the ids of the calls: pictures, or why there is none. */
  readonly items: ReadonlyMap<string, Buffer>;
  /** The ids of the calls that gave no picture. */
  readonly undrawn: ReadonlySet<string>;
  release(): void;
}

/** Draws what models ask for with the picture tool of Responses. */
export interface PictureTool {
  /**
   * One after the other, each with its own hold and row. The text is paid for by then, so no failure is thrown.
   * @param model the one that called
   */
  draw(
    input: TextInput,
    model: Pick<Model, 'imageToolModel'>,
    calls: readonly PictureCall[],
  ): Promise<DrawnPictures>;
}

export function createPictureTool(parts: PictureToolParts): PictureTool {
  return {
    async draw(input, { imageToolModel }, calls) {
      const items = new Map<string, Buffer>();
      const undrawn = new Set<string>();
      const claim = parts.bodyMemory.open(input.caller.keyId);
      let kept = 0;
      for (const [at, call] of calls.entries()) {
        const memory = memoryBeside(claim, kept);
        try {
          if (at >= mostPictures) throw tooMany();
          if (imageToolModel === null || input.client.disconnected) {
            throw new GatewayError('unavailable');
          }
          const item = await drawOne(parts, input, imageToolModel, call, at, memory);
          items.set(call.id, item);
          kept += item.length;
        } catch (error) {
          const failure = asGatewayError(parts, input, error);
          items.set(call.id, pictureTool.encodeFailure(call, failure));
          undrawn.add(call.id);
        }
        memory.tryResponse(0);
      }
      return { items, undrawn, release: () => claim.release() };
    },
  };
}

/** @throws GatewayError, after its row is durable */
async function drawOne(
  parts: PictureToolParts,
  input: TextInput,
  model: string,
  call: PictureCall,
  at: number,
  memory: RequestMemory,
): Promise<Buffer> {
  const { clock } = parts;
  const client = new CollectedItem(input.client);
  const operation: Operation<TextInput> = createPictureOperation(parts, toolSurface(call));
  const drawing: TextInput = {
    ...input,
    // Ids of holds and rows: the same call never has two.
    id: `${input.id}_picture_${at + 1}`,
    arrivedAt: clock.now(),
    startedAt: clock.monotonic(),
    // The client has sent one request.
    pendingRateCheck: null,
    body: Buffer.from(call.arguments),
    pathModel: model,
    pathStream: false,
    client,
    memory,
  };
  await runExchange(parts, operation, drawing);
  // The client left before anything was sent.
  if (client.item === null) throw new GatewayError('unavailable');
  return client.item;
}

/** Room for one picture beside those that are kept. A picture that is kept is there once, and not twice like a response. */
function memoryBeside(claim: BodyClaim, kept: number): RequestMemory {
  return {
    tryResponse: (bytes) => claim.tryResponse(kept / 2 + bytes),
    tryMore: (bytes) => claim.tryMore(bytes),
    refuse: () => claim.refuse(),
    takeParsed: () => {},
    // The call is short, and what is held is for the pictures.
    forgetBody: () => {},
    release: () => {},
  };
}

function tooMany(): GatewayError {
  const reason = `${pictureTool.name}: ${mostPictures} pictures in one response at most`;
  return new GatewayError('invalid_value', { values: { reason } });
}
