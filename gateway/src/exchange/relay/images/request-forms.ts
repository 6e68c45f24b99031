import type { Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ImageRequest } from '#protocols/index.ts';
import { vendorOf } from '#vendors/index.ts';
import { generationOf } from './images-in-thread.ts';
import type { ImageBody, ImageInput } from './input.ts';
import type { ImageParts } from './parts.ts';

type FormsInput = Pick<ImageInput, 'caller' | 'memory' | 'upload'>;

/** A request in the form that each upstream takes: where there is no endpoint for edits, an edit is a generation. */
export class RequestForms {
  readonly #parts: Pick<ImageParts, 'bodies'>;
  readonly #request: ImageRequest<ImageBody>;
  readonly #input: FormsInput;
  #generation: ImageRequest | null = null;

  constructor(
    parts: Pick<ImageParts, 'bodies'>,
    request: ImageRequest<ImageBody>,
    input: FormsInput,
  ) {
    this.#parts = parts;
    this.#request = request;
    this.#input = input;
  }

  /** Makes the form that the route needs. Resolves to the reason why the route cannot be asked; null: there is nothing to do. */
  prepare(route: Route): Promise<GatewayError | null> | null {
    return this.#isConverted(route) && this.#generation === null ? this.#convert() : null;
  }

  /** @throws GatewayError `internal_error` for a route that was not prepared */
  of(route: Route): ImageRequest<ImageBody> {
    if (!this.#isConverted(route)) return this.#request;
    if (this.#generation === null) throw new GatewayError('internal_error');
    return this.#generation;
  }

  /** The request will not be sent again: releases what it takes. */
  done(): void {
    this.#generation = null;
    const { upload, memory } = this.#input;
    // A small body stays in memory.
    if (upload === undefined) return;
    upload.done();
    memory?.forgetBody();
  }

  #isConverted({ channel }: Route): boolean {
    return this.#request.form === 'edit' && vendorOf(channel)?.lacksEdits === true;
  }

  async #convert(): Promise<GatewayError | null> {
    try {
      this.#generation = await generationOf(this.#parts, this.#input, this.#request);
      return null;
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }
}
