import type { Line, PriceRates } from '#billing/index.ts';
import type { Model } from '#catalogue/index.ts';
import type { Exchange } from './exchange.ts';
import type { ResolvedModel } from './find-model.ts';
import type { ExchangeInput } from './input.ts';

/** A request whose body has been read as far as its model. */
export interface OpenedRequest<
  Input extends ExchangeInput = ExchangeInput,
  Checked extends CheckedRequest = CheckedRequest,
> {
  /** As the client wrote it. */
  readonly model: string;
  /**
   * Reads and checks the rest, once the caller is known to be allowed the model. Notes in the exchange whether a stream
   * is asked for, as soon as that is known: also the row of a refusal says it.
   * @throws GatewayError
   */
  check(exchange: Exchange<Input>, resolved: ResolvedModel): Checked;
}

/** A request that may be asked, if it can be paid and somebody can answer it. */
export interface CheckedRequest {
  readonly resolved: ResolvedModel;
}

/**
 * One thing that clients can ask for: how its requests are read, what they can cost and how they are answered. What
 * all operations have in common (the model, rates, money, the row) is done around it, see `relay.ts`. Its steps are
 * called in the order in which they stand here, each once.
 */
export interface Operation<
  Input extends ExchangeInput = ExchangeInput,
  Checked extends CheckedRequest = CheckedRequest,
  Prepared = unknown,
> {
  /** Models of other types are not available to it. */
  readonly modelType: Model['type'];
  /** Costs nothing, whatever the model: nothing is held or charged. */
  readonly isFree: boolean;
  /** Responses may be streamed. */
  readonly mayStream: boolean;

  /** @throws GatewayError, ClientGone */
  open(input: Input): OpenedRequest<Input, Checked> | Promise<OpenedRequest<Input, Checked>>;

  /**
   * What must be asked of others before the request is allowed, such as whose the ids are that it names. Absent or
   * null: nothing. The rates are asked before it is called.
   * @throws GatewayError
   */
  authorize?(exchange: Exchange<Input>, checked: Checked): (() => Promise<Checked>) | null;

  /** The most that the request can use, at these rates. Not called where nothing can cost anything. */
  bound(
    exchange: Exchange<Input>,
    checked: Checked,
    rates: PriceRates,
  ): readonly Line<number | bigint>[];

  /**
   * Finds who can answer it.
   * @throws GatewayError when nobody can.
   */
  prepare(exchange: Exchange<Input>, checked: Checked): Prepared;

  /**
   * Has it answered, and finishes the exchange (`finish.ts`).
   * @throws GatewayError when nothing has been written to the client yet. The row is durable already.
   */
  answer(exchange: Exchange<Input>, prepared: Prepared): Promise<void>;
}
