import type { ReportedUsage } from '#canonical/index.ts';
import { membersAt, objectStart, outlineOf } from '#json/index.ts';
import { ChoiceSet, parseRecord, withEdits } from '../../shared/text/events.ts';
import { echoedName } from '../../shared/text/echo.ts';
import type { ImageEntry, ImageStreamTap } from '../../shared/images/image-stream.ts';
import { type ModelEcho, type StreamEvent, verdict } from '../../protocol.ts';
import { isRecord, recordAt, textOf, type JsonRecord, recordsIn } from '../../shared/values.ts';
import { failureBody } from '../errors.ts';
import { searchesIn, readUsage } from '../native/response.ts';
import { mergeReports } from '../../shared/usage/usage-numbers.ts';

/** In bytes of Base64: where the header of an image has ended, metadata before it included. */
const longestRead = 256 * 1024;

export interface ContentsStreamContext extends ModelEcho {
  /** The size that is in an image itself: `1024x1024`. */
  readonly sizeIn: (base64: string) => string | null;
  /** Whether an image may be shown. The stream fails at the first one that may not. */
  readonly accepts: (entry: ImageEntry) => boolean;
}

/**
 * Watches a stream of generate-content with images, whose events stay as they came. No event is known to be the last
 * one. So from the moment when every candidate has ended, events are held, until another one shows that more comes.
 */
export class ContentsImageTap implements ImageStreamTap {
  replacement: readonly Buffer[] = [];
  failure: unknown = null;
  readonly entries: ImageEntry[] = [];
  readonly inputImages = null;
  readonly closed = false;
  heldBytes = 0;
  readonly #context: ContentsStreamContext;
  readonly #echo: Buffer | null;
  readonly #candidates = new ChoiceSet();
  #isBlocked = false;
  /** The latest report; most events repeat it. */
  #usage: unknown = null;
  /** All reports before it. */
  #earlierUsage: ReportedUsage | null = null;
  /** The largest count of one event, since later events repeat the searches. */
  #searches = 0;
  #heldEvents: Buffer[] = [];

  constructor(context: ContentsStreamContext) {
    this.#context = context;
    this.#echo = echoedName(context);
  }

  /** Every candidate that began has its finish reason, or the prompt was blocked. */
  get finished(): boolean {
    return this.#isBlocked || this.#candidates.allEnded;
  }

  get usage(): ReportedUsage | null {
    return mergeReports(this.#earlierUsage, readUsage(this.#usage, this.#searches));
  }

  inspect(event: StreamEvent): number {
    const { data } = event;
    // The protocol's own command line client fails on comments.
    if (data === null || data.length === 0) return verdict.drop;
    const json = parse(data);
    if (json === null || json['error']) {
      this.failure = failureBody(json);
      return verdict.failed;
    }
    if (isRecord(json['usageMetadata'])) {
      this.#earlierUsage = this.usage;
      this.#usage = json['usageMetadata'];
    }
    this.#searches = Math.max(this.#searches, searchesIn(json));
    if (textOf(recordAt(json, 'promptFeedback')['blockReason']) !== '') this.#isBlocked = true;
    const candidates = [...recordsIn(json['candidates'])];
    for (const candidate of candidates) {
      const { index, finishReason } = candidate;
      this.#candidates.note(Number(index ?? 0) || 0, textOf(finishReason) !== '');
      if (!this.#takeAll(candidate)) {
        this.failure = failureBody(null);
        return verdict.failed;
      }
    }
    const isContent = candidates.length > 0 || this.finished;
    return this.#show(event, data) | (isContent ? verdict.content : verdict.forward);
  }

  completion(): readonly Buffer[] {
    return this.#takeHeld();
  }

  #show(event: StreamEvent, data: Buffer): number {
    const shownEvent = this.#echoed(event, data);
    if (this.finished) {
      this.#heldEvents.push(shownEvent);
      this.heldBytes += shownEvent.length;
      return verdict.drop;
    }
    if (this.#heldEvents.length === 0 && shownEvent === event.raw) return verdict.forward;
    this.replacement = [...this.#takeHeld(), shownEvent];
    return verdict.replace;
  }

  #takeHeld(): Buffer[] {
    const heldEvents = this.#heldEvents;
    this.#heldEvents = [];
    this.heldBytes = 0;
    return heldEvents;
  }

  /** False: one of its images must not be shown. Drafts among the thoughts do not count. */
  #takeAll(candidate: JsonRecord): boolean {
    for (const part of recordsIn(recordAt(candidate, 'content')['parts'])) {
      if (part['thought'] === true || !isRecord(part['inlineData'])) continue;
      const size = this.#context.sizeIn(textOf(part['inlineData']['data']));
      const entry: ImageEntry = { size, zIndex: null, isFailed: false, imageStart: null };
      if (!this.#context.accepts(entry)) return false;
      this.entries.push(entry);
    }
    return true;
  }

  #echoed(event: StreamEvent, data: Buffer): Buffer {
    const start = this.#echo === null ? null : objectStart(data, 0);
    if (this.#echo === null || start === null) return event.raw;
    const model = membersAt(data, start).findLast(({ key }) => key === 'modelVersion');
    if (model === undefined) return event.raw;
    const { valueStart, valueEnd } = model;
    if (this.#echo.equals(data.subarray(valueStart, valueEnd))) return event.raw;
    const edit = { start: valueStart, end: valueEnd, bytes: this.#echo };
    return withEdits(event, data, [edit]);
  }
}

/** Whether the data of an event is all there. */
export function isWholeEvent(data: Buffer): boolean {
  return parse(data) !== null;
}

/** Its long texts are cut: images are megabytes. */
function parse(data: Buffer): JsonRecord | null {
  const outline = outlineOf(data, longestRead, false);
  return outline === null ? null : parseRecord(outline);
}
