import type { ReportedUsage } from '#canonical/index.ts';
import { ChoiceSet, parseRecord, readEvent } from '../../shared/text/events.ts';
import { echoedName, echoInEvent } from '../../shared/text/echo.ts';
import { brokenEndingError, judgeEnding } from '../../shared/text/endings.ts';
import { type StreamContext, type StreamEvent, type StreamTap, verdict } from '../../protocol.ts';
import { failureBody } from '../errors.ts';
import { CandidatesView } from './event-view.ts';
import { searchesIn, readUsage } from './response.ts';
import { mergeReports } from '../../shared/usage/usage-numbers.ts';

const view = new CandidatesView();

export class GenerateContentStreamTap implements StreamTap {
  replacement: Buffer | null = null;
  failure: unknown = null;
  outputBytes = 0;
  unknownEnding: string | null = null;
  /** The largest count of one event, since later events repeat the searches. */
  webSearches = 0;
  readonly #searches: boolean;
  /** No event is known to be the last: usage may follow the finish reason. */
  readonly closed = false;
  readonly #echo: Buffer | null;
  readonly #candidates = new ChoiceSet();
  #isBlocked = false;
  #hasOutput = false;
  #isEnding = false;
  /** JSON text of the latest report. Parsed on demand, since most events repeat it. */
  #usage: Buffer | null = null;
  /** All reports before it: the last of a grounded response may have no output tokens. */
  #earlierUsage: ReportedUsage | null = null;

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
    return mergeReports(this.#earlierUsage, this.#latest());
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
    if (view.usage.isKnown) this.#takeUsage(view.usage.in(read));
    if (view.hasPart) this.#hasOutput = true;
    const ending = judgeEnding(view.finishReason, this.#hasOutput);
    if (ending === 'broken') {
      this.failure = brokenEndingError(String(view.finishReason));
      return verdict.failed;
    }
    if (ending === 'unknown') this.unknownEnding = String(view.finishReason);
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

  #takeUsage(usage: Buffer): void {
    if (this.#usage?.equals(usage) === true) return;
    this.#earlierUsage = mergeReports(this.#earlierUsage, this.#latest());
    // A copy, which releases the network chunk.
    this.#usage = Buffer.from(usage);
  }

  #latest(): ReportedUsage | null {
    return this.#usage === null ? null : readUsage(parseRecord(this.#usage), this.webSearches);
  }

  completion(): string {
    return '';
  }
}
