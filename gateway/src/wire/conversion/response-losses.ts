import type { ResponseLoss, Block, Citation, Finish, Loss, TextBlock } from '#canonical/index.ts';
import type { Codec } from '#protocols/index.ts';
import { LossList } from './losses.ts';

interface Slots {
  readonly citations: boolean;
  readonly logprobs: boolean;
  readonly candidates: boolean;
  /** If false, Markdown shows the image. */
  readonly image: boolean;
  readonly media: boolean;
}

/** What the responses of each protocol can express besides text, reasoning and calls. */
const slotsOf: Readonly<Record<Codec['name'], Slots>> = {
  chat: { citations: true, logprobs: true, candidates: true, image: false, media: false },
  responses: { citations: true, logprobs: true, candidates: false, image: true, media: false },
  messages: { citations: false, logprobs: false, candidates: false, image: false, media: false },
  'generate-content': {
    citations: false,
    logprobs: true,
    candidates: true,
    image: true,
    media: true,
  },
};

/**
 * The parts of an upstream's response that do not reach the client unchanged. They are collected while the response is
 * read, so they are complete only at its end: the usage row records them, not a header.
 */
export class ResponseLosses {
  readonly #client: Codec['name'];
  readonly #slots: Slots;
  readonly #losses = new LossList();

  constructor(client: Codec['name']) {
    this.#client = client;
    this.#slots = slotsOf[client];
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
    if (choice > 0 && !this.#slots.candidates) this.#add('answer.candidates', 'dropped');
  }

  /** @param citation null: it cites something that only its vendor can resolve */
  citation(citation: Citation | null): void {
    if (citation === null || !this.#slots.citations) this.#add('answer.citations', 'dropped');
  }

  /** A word that is not known, and a turn that the client would have to continue, which only messages can say. */
  finish({ reason, isGuess }: Finish): void {
    const isPause = reason === 'pause' && this.#client !== 'messages';
    if (isGuess === true || isPause) this.#add('answer.finish', 'approximated');
  }

  logprobs(): void {
    if (!this.#slots.logprobs) this.#add('answer.logprobs', 'dropped');
  }

  block(block: Block): void {
    switch (block.type) {
      case 'text':
        this.#text(block);
        return;
      case 'image':
        if (block.source.kind === 'file-id') this.#add('answer.image', 'dropped');
        else if (!this.#slots.image) this.#add('answer.image', 'approximated');
        return;
      case 'file':
      case 'audio':
      case 'video':
        if (!this.#slots.media || block.source.kind === 'file-id') {
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
