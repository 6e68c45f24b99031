import type {
  Loss,
  LossName,
  Unconvertible,
  ResponseLoss,
  Block,
  Citation,
  Finish,
  TextBlock,
} from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { textFacts, type Codec, type TextFacts } from '#protocols/index.ts';

/** Clients invent field names of any length; this much of a name goes into a header and a row. */
const nameLimit = 64;
const countLimit = 32;

/** The losses of one attempt, without duplicates. */
export class LossList {
  readonly #losses = new Map<string, Loss>();

  add(loss: Loss): void {
    const name = printable(loss.what);
    this.#losses.set(`${loss.how} ${name}`, { what: name, how: loss.how });
  }

  dropped(what: LossName): void {
    this.add({ what, how: 'dropped' });
  }

  approximated(what: LossName): void {
    this.add({ what, how: 'approximated' });
  }

  /** Sorted by name. */
  all(): readonly Loss[] {
    return [...this.#losses.values()].toSorted((a, b) => compare(a.what, b.what));
  }
}

/** For the usage row: `dropped:seed`. */
export function lossCodes(losses: readonly Loss[]): string[] {
  return losses.slice(0, countLimit).map(({ what, how }) => `${how}:${what}`);
}

/** The value of `x-sluice-conversion`, which ends in the number of further ones; null without losses. */
export function lossHeader(losses: readonly Loss[]): string | null {
  const shownLosses = losses.slice(0, countLimit);
  const names = (how: Loss['how']) =>
    shownLosses
      .filter((loss) => loss.how === how)
      .map(({ what }) => what)
      .join(',');
  const droppedNames = names('dropped');
  const approximatedNames = names('approximated');
  const parts = [];
  if (droppedNames !== '') parts.push(`dropped=${droppedNames}`);
  if (approximatedNames !== '') parts.push(`approx=${approximatedNames}`);
  if (parts.length === 0) return null;
  const more = losses.length - shownLosses.length;
  return `${parts.join('; ')}${more > 0 ? `,+${more}` : ''}`;
}

function printable(what: string): string {
  return what.slice(0, nameLimit).replace(/[^\w.[\]-]/g, '_');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The client's name for what a loss names. */
type FieldName = (what: string) => string;

/** The error for a part that cannot be converted. */
export function refusalOf(error: Unconvertible, fieldName: FieldName): GatewayError {
  const param = error.param ?? fieldName(error.what);
  const reason = `${error.message} (${param})`;
  const details = error.what === 'thread' ? noThreads : undefined;
  return new GatewayError('invalid_value', {
    values: { reason },
    param,
    cause: error,
    ...(details !== undefined && { details }),
  });
}

/** With this the SDK sends the whole conversation instead. */
const noThreads = Object.freeze({
  error_code: 'thread_unsupported_request',
  unsupported: Object.freeze(['model']),
});

/** @throws GatewayError `invalid_value` for the first loss, if there is one. */
export function refuseLosses([first]: readonly Loss[], fieldName: FieldName): void {
  if (first === undefined) return;
  const param = fieldName(first.what);
  const what = first.how === 'dropped' ? 'cannot be passed on' : 'can only be approximated';
  const reason = `'${param}' ${what} to this model, and this key does not permit lossy conversion`;
  throw new GatewayError('invalid_value', { values: { reason }, param });
}

/**
 * The parts of an upstream's response that do not reach the client unchanged. They are collected while the response is
 * read, so they are complete only at its end: the usage row records them, not a header.
 */
export class ResponseLosses {
  readonly #client: Codec['name'];
  readonly #facts: TextFacts;
  readonly #losses = new LossList();

  constructor(client: Codec['name']) {
    this.#client = client;
    this.#facts = textFacts[client];
  }

  all(): readonly Loss[] {
    return this.#losses.all();
  }

  /** Adds the losses of a response that another thread read. */
  add(losses: readonly Loss[]): void {
    for (const loss of losses) this.#losses.add(loss);
  }

  /** @param choice counts from 0. */
  candidate(choice: number): void {
    if (choice > 0 && !this.#facts.expresses.candidates) this.#add('answer.candidates', 'dropped');
  }

  /** @param citation null: it cites something that only its vendor can resolve */
  citation(citation: Citation | null): void {
    if (citation === null || !this.#facts.expresses.citations)
      this.#add('answer.citations', 'dropped');
  }

  /** A word that is not known, and a turn that the client would have to continue, which few protocols can say. */
  finish({ reason, isGuess }: Finish): void {
    const isPause = reason === 'pause' && !this.#facts.hasPauses;
    if (isGuess === true || isPause) this.#add('answer.finish', 'approximated');
  }

  logprobs(): void {
    if (!this.#facts.expresses.logprobs) this.#add('answer.logprobs', 'dropped');
  }

  block(block: Block): void {
    switch (block.type) {
      case 'text':
        this.#text(block);
        return;
      case 'image':
        if (block.source.kind === 'file-id') this.#add('answer.image', 'dropped');
        else if (!this.#facts.expresses.image) this.#add('answer.image', 'approximated');
        return;
      case 'file':
      case 'audio':
      case 'video':
        if (!this.#facts.expresses.media || block.source.kind === 'file-id') {
          this.#add(`answer.${block.type}`, 'dropped');
        }
        return;
      case 'opaque':
        if (block.protocol === this.#client || block.ifForeign === 'ignore') return;
        this.#add(`answer.${block.name}`, block.text ? 'approximated' : 'dropped');
        return;
      default:
    }
  }

  #text({ citations = [], citesOwn, logprobs = [] }: TextBlock): void {
    for (const citation of citesOwn ? [null, ...citations] : citations) this.citation(citation);
    if (logprobs.length > 0) this.logprobs();
  }

  #add(what: ResponseLoss, how: Loss['how']): void {
    this.#losses.add({ what, how });
  }
}
