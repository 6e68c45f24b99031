import type { CostLine, PriceRates } from '#billing/index.ts';
import type { CatalogueSnapshot, Group, Model } from '#catalogue/index.ts';
import type { Exchange, ExchangeInput, ExchangeParts } from './exchange.ts';

/** A model that the caller may use, and the catalogue it was found in. */
export interface ResolvedModel {
  /** As the client wrote it. */
  readonly name: string;
  readonly model: Model;
  /** Of the key. */
  readonly group: Group;
  /** The catalogue when the request arrived; everything later is decided with it. */
  readonly snapshot: CatalogueSnapshot;
  /** The names under which channels may serve the model, in order of preference. */
  readonly servedNames: readonly string[];
}

/** A request whose body has been read up to its model. */
export interface OpenedRequest<
  Input extends ExchangeInput = ExchangeInput,
  Checked extends CheckedRequest = CheckedRequest,
> {
  /** As the client wrote it. */
  readonly model: string;
  /**
   * Reads and checks the rest, once it is known that the caller may use the model. Notes in the exchange whether a
   * stream is requested as soon as that is known, because the row of a refusal says it too.
   * @throws GatewayError
   */
  check(exchange: Exchange<Input>, resolvedModel: ResolvedModel): Checked;
}

/** A request that is valid and allowed. It still needs money and a route. */
export interface CheckedRequest {
  readonly resolvedModel: ResolvedModel;
}

/**
 * One kind of request that clients can make: how it is read, what it can cost and how it is served. What all operations
 * share (the model, rates, money, the row) happens around these steps, in `relay.ts`. They are called in the order in
 * which they are listed, each once, with the parts of the gateway.
 */
export interface Operation<
  Input extends ExchangeInput = ExchangeInput,
  Checked extends CheckedRequest = CheckedRequest,
  Prepared = unknown,
  Parts = ExchangeParts,
> {
  /** The type of the models that it uses. */
  readonly modelType: Model['type'];
  /**
   * The operation that serves a model of another type for the same request, as a chat can ask for images; null if
   * there is none. It opens the request again. Absent: models of another type cannot be used.
   */
  instead?(
    input: Input,
    type: Model['type'],
  ): Operation<Input, CheckedRequest, unknown, Parts> | null;
  /** It costs nothing with any model, so nothing is held or charged. */
  readonly isFree: boolean;
  /** A request holds all that it can cost, or is refused. Absent: it makes do with all that is left. */
  readonly holdsAll?: boolean;
  /** Its responses may be streamed. */
  readonly mayStream: boolean;

  /** @throws GatewayError, ClientGone */
  open(
    parts: Parts,
    input: Input,
  ): OpenedRequest<Input, Checked> | Promise<OpenedRequest<Input, Checked>>;

  /**
   * Checks that need others, such as who owns the ids that the request names. Absent or null: there are none. It is
   * called after the rates.
   * @throws GatewayError
   */
  authorize?(
    parts: Parts,
    exchange: Exchange<Input>,
    checkedRequest: Checked,
  ): Promise<Checked> | null;

  /** The most that the request can use, at these rates. Not called if it cannot cost anything. */
  bound(
    exchange: Exchange<Input>,
    checkedRequest: Checked,
    rates: PriceRates,
  ): readonly CostLine<number | bigint>[];

  /**
   * Finds the routes that can serve the request.
   * @throws GatewayError when there is none.
   */
  prepare(parts: Parts, exchange: Exchange<Input>, checkedRequest: Checked): Prepared;

  /**
   * Gets the response to the client and finishes the exchange (`finish.ts`).
   * @throws GatewayError when nothing has been written to the client yet. The row is durable by then.
   */
  answer(parts: Parts, exchange: Exchange<Input>, preparedText: Prepared): Promise<void>;
}
