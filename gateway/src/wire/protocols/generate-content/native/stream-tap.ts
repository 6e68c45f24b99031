import type { ReportedUsage } from '#canonical/index.ts';
import { ChoiceSet } from '../../choice-set.ts';
import { echoedName, echoInEvent } from '../../echo.ts';
import { parseRecord, readEvent } from '../../event-view.ts';
import { type StreamContext, type StreamEvent, type StreamTap, verdict } from '../../protocol.ts';
import { failureBody } from '../errors.ts';
import { CandidatesView } from './event-view.ts';
import { searchesIn } from './searches.ts';
import { readUsage, readWholeUsage, withCounted } from './usage.ts';

const view = new CandidatesView();

export class GenerateContentStreamTap implements StreamTap {
  replacement: Buffer | null = null;
  failure: unknown = null;
  outputBytes = 0;
  /** The largest count of one event, since later events repeat the searches. */
  webSearches = 0;
  readonly #searches: boolean;
  /** No event is known to be the last: usage may follow the finish reason. */
  readonly closed = false;
  readonly #echo: Buffer | null;
  readonly #candidates = new ChoiceSet();
  #isBlocked = false;
  #isEnding = false;
  /** JSON text. Parsed on demand, since every event repeats it. */
  #usage: Buffer | null = null;
  /** The latest usage with output tokens, if the latest of all has none, as grounded responses may. */
  #counted: Buffer | null = null;

  constructor(context: StreamContext) {
    this.#echo = echoedName(context);
    this.#searches = context.searches === true;
  }

  /** Every candidate that began has its finish reason, or the prompt was blocked. */
  get finished(): boolean {
    return this.#isBlocked || this.#candidates.allEnded;
  }

  get awaitsUsage(): boolean {
    if (!this.finished) return false;
    const { usage } = this;
    return usage === null || usage.missingSide !== undefined;
  }

  get usage(): ReportedUsage | null {
    if (this.#usage === null) return null;
    const last = parseRecord(this.#usage);
    const usage = this.#counted === null ? last : withCounted(last, parseRecord(this.#counted));
    return this.finished
      ? readWholeUsage(usage, this.webSearches)
      : readUsage(usage, this.webSearches);
  }

  inspect(event: StreamEvent): number {
    const { data } = event;
    // The protocol's own command line client fails on comments.
    if (data === null || data.length === 0) return verdict.drop;
    const read = readEvent(view, data);
    if (read === null || view.hasError) {
      this.failure = failureBody(parseRecord(data));
      return verdict.failed;
    }
    this.outputBytes += view.outputBytes;
    if (this.#searches && read.includes('"webSearchQueries"')) {
      this.webSearches = Math.max(this.webSearches, searchesIn(parseRecord(data) ?? {}));
    }
    if (view.usage.isKnown) {
      // A copy, which releases the network chunk.
      const usage = Buffer.from(view.usage.in(read));
      const counts = usage.includes('"candidatesTokenCount"');
      if (counts) this.#counted = null;
      else if (this.#usage?.includes('"candidatesTokenCount"') === true)
        this.#counted = this.#usage;
      this.#usage = usage;
    }
    let result: number = view.hasContent ? verdict.content : verdict.forward;
    this.#candidates.addAll(view.candidates);
    if (view.isBlocked) this.#isBlocked = true;
    if (!this.#isEnding && (view.isBlocked || view.candidates.anyEnded)) {
      this.#isEnding = true;
      result |= verdict.terminal;
    }
    this.replacement = echoInEvent(event, read, view.model, this.#echo);
    return this.replacement === null ? result : result | verdict.replace;
  }

  completion(): string {
    return '';
  }
}
