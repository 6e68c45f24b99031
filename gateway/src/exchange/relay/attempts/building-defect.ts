import { GatewayError } from '#errors/index.ts';
import { ClientGone } from '../exchange/client-gone.ts';

/** A defect of the gateway while it made a request for one channel. Nothing was sent, so another channel may be asked. */
export class BuildingDefect extends Error {
  constructor(defect: unknown) {
    super('a request could not be made', { cause: defect });
  }
}

/** An error of making a request, as it is to be thrown. */
export function asBuildingDefect(error: unknown): unknown {
  return error instanceof GatewayError || error instanceof ClientGone
    ? error
    : new BuildingDefect(error);
}
