import type { Route } from '#catalogue/index.ts';
import { editAsGeneration } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ImageRequest } from '#protocols/index.ts';
import { vendorOf } from '#vendors/index.ts';

/** A request in the form that each upstream takes: where there is no endpoint for edits, an edit is a generation. */
export class RequestForms {
  readonly #request: ImageRequest;
  #generation: ImageRequest | null = null;

  constructor(request: ImageRequest) {
    this.#request = request;
  }

  /** Makes the form that the route needs. Resolves to the reason why the route cannot be asked; null: there is nothing to do. */
  prepare(route: Route): Promise<GatewayError | null> | null {
    return this.#isConverted(route) && this.#generation === null ? this.#convert() : null;
  }

  /** @throws GatewayError `internal_error` for a route that was not prepared */
  of(route: Route): ImageRequest {
    if (!this.#isConverted(route)) return this.#request;
    if (this.#generation === null) throw new GatewayError('internal_error');
    return this.#generation;
  }

  #isConverted({ channel }: Route): boolean {
    return this.#request.form === 'edit' && vendorOf(channel)?.lacksEdits === true;
  }

  async #convert(): Promise<GatewayError | null> {
    try {
      this.#generation = await editAsGeneration(this.#request);
      return null;
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }
}
