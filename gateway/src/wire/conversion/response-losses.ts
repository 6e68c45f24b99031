import type { ResponseLoss, Block, Citation, Finish, Loss, TextBlock } from '#canonical/index.ts';
import { textFacts, type Codec, type TextFacts } from '#protocols/index.ts';
import { LossList } from './losses.ts';

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
