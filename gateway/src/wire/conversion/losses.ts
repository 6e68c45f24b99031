import {
  type Loss,
  LossList,
  type Unconvertible,
  type ResponseLoss,
  type Block,
  type Citation,
  type Finish,
  type TextBlock,
} from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { textFacts, type Codec, type TextFacts } from '#protocols/index.ts';

const countLimit = 32;

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
export class ResponseLosses extends LossList {
  readonly #client: Codec['name'];
  readonly #facts: TextFacts;

  constructor(client: Codec['name']) {
    super();
    this.#client = client;
    this.#facts = textFacts[client];
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
    this.add(what, how);
  }
}
