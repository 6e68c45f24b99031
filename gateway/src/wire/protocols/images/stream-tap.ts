import type { ReportedUsage } from '#canonical/index.ts';
import { echoedName } from '../shared/text/echo.ts';
import { failureObject } from '../shared/text/error-object.ts';
import { isDone, frame } from '../shared/text/events.ts';
import type { ImageStreamTap } from '../shared/images/image-stream.ts';
import { type ModelEcho, type StreamEvent, verdict } from '../protocol.ts';
import { isRecord, type JsonRecord } from '../shared/values.ts';
import { type EventData, eventData, frameOf, setMember, valueOf } from './event-frame.ts';
import { type ImageEventNames, kindOfEvent } from './event-names.ts';
import { parseImages, readEntry, readInputImages, readUsage } from './response.ts';
import type { ImageEntry } from './types.ts';
import { mergeReports } from '../shared/usage/usage-numbers.ts';

export interface ImageStreamContext extends ModelEcho {
  /** The names of events that the client gets. */
  readonly names: ImageEventNames;
  /** Whether a final image may be shown. The stream fails at the first one that may not. Absent: all may. */
  readonly accepts?: (entry: ImageEntry) => boolean;
}

/** Reads a stream of images, in every spelling of its events, and gives the client the names that it knows. */
export class ImagesStreamTap implements ImageStreamTap {
  replacement: readonly Buffer[] = [];
  failure: unknown = null;
  readonly entries: ImageEntry[] = [];
  inputImages: number | null = null;
  usage: ReportedUsage | null = null;
  readonly #names: ImageEventNames;
  readonly #accepts: (entry: ImageEntry) => boolean;
  readonly #echo: Buffer | null;
  /** The last image of a set, which awaits the usage. */
  #heldEvent: EventData | null = null;
  #finals = 0;
  /** Why the last image that failed did. */
  #failed: unknown = null;
  #isDone = false;

  constructor({ names, accepts = () => true, ...echo }: ImageStreamContext) {
    this.#names = names;
    this.#accepts = accepts;
    this.#echo = echoedName(echo);
  }

  get heldBytes(): number {
    return this.#heldEvent?.json.length ?? 0;
  }

  /** If the body ended now, the response would be complete. */
  get finished(): boolean {
    return this.#finals > 0;
  }

  /** Nothing can follow. */
  get closed(): boolean {
    return this.#isDone;
  }

  /** @returns a sum of `verdict` bits */
  inspect(event: StreamEvent): number {
    const { data } = event;
    if (data === null || data.length === 0) return verdict.forward;
    if (isDone(data)) return this.#done();
    const json = parseImages(data, false);
    if (json === null) return this.#fail(null);
    const type = json['type'] ?? event.name;
    const kind = kindOfEvent(type);
    if (kind === 'set-failure') return this.#imageFailed(json);
    if (json['error'] || type === 'error') return this.#fail(json['error'] ?? json);
    this.#readUsage(json);
    switch (kind) {
      case 'partial':
        return this.#show(event, data, json, this.#names.partial);
      case 'set-picture':
        return this.#setImage(data, json);
      case 'final':
        return hasImage(json) ? this.#final(event, data, json) : this.#endOfSet(data);
      case null:
        return verdict.forward;
    }
  }

  /** What is missing at the end: an image that awaited its usage, and the terminator. */
  completion(): readonly Buffer[] {
    if (!this.finished || this.#isDone) return [];
    return [...(this.#takeHeld(null) ?? []), done];
  }

  #done(): number {
    this.#isDone = true;
    if (!this.finished) return this.#fail(this.#failed);
    const heldEvent = this.#takeHeld(null);
    if (heldEvent === null) return verdict.terminal;
    this.replacement = [...heldEvent, done];
    return verdict.terminal | verdict.replace | verdict.content;
  }

  #show(event: StreamEvent, data: Buffer, json: JsonRecord, name: string): number {
    const isSame = event.name === name && json['type'] === name;
    if (isSame && (this.#echo === null || json['model'] === undefined)) return verdict.content;
    this.replacement = frameOf(name, this.#renamed(data, name));
    return verdict.content | verdict.replace;
  }

  #renamed(data: Buffer, name: string): EventData {
    const event = eventData(data);
    setMember(event, 'type', Buffer.from(JSON.stringify(name)));
    if (this.#echo !== null && event.members.has('model')) setMember(event, 'model', this.#echo);
    return event;
  }

  #final(event: StreamEvent, data: Buffer, json: JsonRecord): number {
    if (!this.#take(readEntry(json))) return this.#fail(null);
    return this.#show(event, data, json, this.#names.final);
  }

  /** Each image of a set is a final one. The last waits for the usage, so each shows the one before. */
  #setImage(data: Buffer, json: JsonRecord): number {
    const before = this.#takeHeld(null);
    if (!this.#take(readEntry(json))) return this.#fail(null);
    // A copy, which releases the network chunk. A large event is a buffer of its own.
    const own = data.length < smallEvent ? Buffer.from(data) : data;
    this.#heldEvent = this.#renamed(own, this.#names.final);
    if (before === null) return verdict.drop;
    this.replacement = before;
    return verdict.content | verdict.replace;
  }

  #imageFailed(json: JsonRecord): number {
    this.#failed = json['error'] ?? null;
    this.entries.push({ size: null, zIndex: null, isFailed: true, imageStart: null });
    return verdict.drop;
  }

  /** The usage of all images before it. */
  #endOfSet(data: Buffer): number {
    if (!this.finished) return this.#fail(this.#failed);
    const heldEvent = this.#takeHeld(data);
    if (heldEvent === null) return verdict.drop;
    this.replacement = heldEvent;
    return verdict.content | verdict.replace;
  }

  /** @param end the event with the usage; null if there is none yet */
  #takeHeld(end: Buffer | null): Buffer[] | null {
    const heldEvent = this.#heldEvent;
    if (heldEvent === null) return null;
    this.#heldEvent = null;
    const usage = end === null ? null : valueOf(eventData(end), 'usage');
    if (usage !== null) setMember(heldEvent, 'usage', usage);
    return frameOf(this.#names.final, heldEvent);
  }

  #take(entry: ImageEntry): boolean {
    if (!this.#accepts(entry)) return false;
    // The size alone matters later, and megabytes add up.
    this.entries.push(entry.size === null ? entry : { ...entry, imageStart: null });
    this.#finals += 1;
    return true;
  }

  #readUsage(json: JsonRecord): void {
    const { usage, service_tier: serviceTier } = json;
    if (!isRecord(usage)) return;
    this.usage = mergeReports(this.usage, readUsage(usage, serviceTier));
    this.inputImages = readInputImages(usage) ?? this.inputImages;
  }

  #fail(detail: unknown): number {
    this.failure = failureObject(detail);
    return verdict.failed;
  }
}

/** Whether the data of an event is all there. */
export function isWholeEvent(data: Buffer): boolean {
  return isDone(data) || parseImages(data, false) !== null;
}

const done = Buffer.from(frame(null, '[DONE]'));
/** In bytes. */
const smallEvent = 64 * 1024;

function hasImage(json: JsonRecord): boolean {
  return Boolean(json['b64_json']) || Boolean(json['url']);
}
