import type { ReportedUsage } from '#canonical/index.ts';
import { ChoiceSet, isDone, parseRecord, readEvent, frame } from '../../shared/text/events.ts';
import { echoedName, echoInEvent } from '../../shared/text/echo.ts';
import { brokenEndingError, judgeEnding } from '../../shared/text/endings.ts';
import { failureObject } from '../../shared/text/error-object.ts';
import { GivenState, type StateName } from '../../shared/state/named-state.ts';
import { readInclusiveUsage } from '../../shared/usage/inclusive-usage.ts';
import { type StreamContext, type StreamEvent, type StreamTap, verdict } from '../../protocol.ts';
import { mergeReports } from '../../shared/usage/usage-numbers.ts';
import { ChunkView } from './chunk-view.ts';
import { errorOfChoice } from './response.ts';

const chunk = new ChunkView();

export class ChatStreamTap implements StreamTap {
  replacement: Buffer | null = null;
  failure: unknown = null;
  outputBytes = 0;
  unknownEnding: string | null = null;
  #storedNames: GivenState | null = null;
  readonly #echo: Buffer | null;
  readonly #usageInjected: boolean;
  #hasContent = false;
  readonly #choices = new ChoiceSet();
  #isDone = false;
  /** JSON text of the latest report, which is usually the only one: it is parsed on demand. */
  #usage: Buffer | null = null;
  /** All reports before it. */
  #earlierUsage: ReportedUsage | null = null;
  /** From the first chunk, or from the one with the usage. Others only repeat it. */
  #serviceTier: unknown = undefined;
  /** Only citations show that there was a search. */
  webSearches = 0;
  readonly #searches: boolean;
  readonly #observe: StreamContext['observe'];

  constructor(context: StreamContext) {
    this.#echo = echoedName(context);
    this.#usageInjected = context.usageInjected;
    this.#searches = context.searches === true;
    this.#observe = context.observe;
  }

  /**
   * Every choice that began has its finish reason. Some servers name none: then `[DONE]` after content ends the stream.
   */
  get finished(): boolean {
    return this.#choices.allEnded || (this.#isDone && this.#hasContent);
  }

  get usage(): ReportedUsage | null {
    return mergeReports(this.#earlierUsage, this.#latest());
  }

  get storedNames(): readonly StateName[] | undefined {
    return this.#storedNames?.names;
  }

  get closed(): boolean {
    return this.#isDone;
  }

  get awaitsUsage(): boolean {
    return this.finished && this.#usage === null && !this.#isDone;
  }

  inspect(event: StreamEvent): number {
    const { data } = event;
    if (data === null || data.length === 0) return verdict.forward;
    if (isDone(data)) {
      this.#isDone = true;
      return verdict.terminal;
    }
    const read = readEvent(chunk, data);
    if (read === null) return this.#fail(data);
    const hasUsage = chunk.usage.isKnown;
    if (hasUsage) this.#takeUsage(chunk.usage.in(read));
    if ((hasUsage || !this.#choices.anyBegun) && read.includes('"service_tier"')) {
      this.#serviceTier = parseRecord(read)?.['service_tier'];
    }
    if (this.#searches && read.includes('"url_citation"')) this.webSearches = 1;
    if (chunk.hasError || event.name === 'error') return this.#fail(data);
    const ending = judgeEnding(chunk.finishReason, this.#hasContent || chunk.hasDelta);
    if (ending === 'broken') {
      this.failure = brokenEndingError(String(chunk.finishReason));
      return verdict.failed;
    }
    if (ending === 'unknown') this.unknownEnding = String(chunk.finishReason);

    this.#observe?.(event);
    this.outputBytes += chunk.outputBytes;
    if (chunk.audioId !== undefined)
      (this.#storedNames ??= new GivenState()).add('audio', chunk.audioId);
    this.#choices.addAll(chunk.choices);
    if (this.#usageInjected && hasUsage && !chunk.hasChoices) return verdict.drop;

    let result: number = verdict.forward;
    if (chunk.hasContent) {
      this.#hasContent = true;
      result = verdict.content;
    }
    this.replacement = echoInEvent(event, read, chunk.model, this.#echo);
    return this.replacement === null ? result : result | verdict.replace;
  }

  completion(): string {
    return this.finished && !this.#isDone ? frame(null, '[DONE]') : '';
  }

  /** Some servers report with every chunk. */
  #takeUsage(usage: Buffer): void {
    if (this.#usage?.equals(usage) === true) return;
    this.#earlierUsage = mergeReports(this.#earlierUsage, this.#latest());
    // A copy, which releases the network chunk.
    this.#usage = Buffer.from(usage);
  }

  #latest(): ReportedUsage | null {
    if (this.#usage === null) return null;
    return readInclusiveUsage(parseRecord(this.#usage), this.#serviceTier, this.webSearches);
  }

  #fail(data: Buffer): number {
    const value = parseRecord(data);
    this.failure = failureObject(value?.['error'] ?? errorOfChoice(value) ?? value);
    return verdict.failed;
  }
}
