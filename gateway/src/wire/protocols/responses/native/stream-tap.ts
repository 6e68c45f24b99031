import type { ReportedUsage } from '#canonical/index.ts';
import { echoedName, echoInEvent } from '../../shared/text/echo.ts';
import { failureObject } from '../../shared/text/error-object.ts';
import { brokenEndingError, isBrokenStatus, judgeEnding } from '../../shared/text/endings.ts';
import { isDone, parseRecord, readEvent } from '../../shared/text/events.ts';
import { GivenState, type StateKind, type StateName } from '../../shared/state/named-state.ts';
import { readInclusiveUsage } from '../../shared/usage/inclusive-usage.ts';
import { type StreamContext, type StreamEvent, type StreamTap, verdict } from '../../protocol.ts';
import { mergeReports } from '../../shared/usage/usage-numbers.ts';
import { readItemIds } from '../item-ids.ts';
import { isAbsent, isRecord, recordAt, type JsonRecord } from '../../shared/values.ts';
import { ResponseEventView } from './event-view.ts';
import { isSearch, imageTokensIn, searchesIn } from './response.ts';

/** Events that end a response. `response.cancelled` is not among the vendor's, and servers send it. */
const endings: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.cancelled',
]);

const view = new ResponseEventView();

/** What the gateway's failure event repeats of the response that it ends. */
export interface BegunResponse {
  readonly id: string;
  readonly createdAt: number;
  readonly model: string;
}

export class ResponsesStreamTap implements StreamTap {
  replacement: Buffer | null = null;
  usage: ReportedUsage | null = null;
  failure: unknown = null;
  outputBytes = 0;
  /** Searches that have ended. */
  webSearches = 0;
  finished = false;
  /** Null until the upstream has announced the response. */
  begun: BegunResponse | null = null;
  lastSequenceNumber = -1;
  unknownEnding: string | null = null;
  #hasItems = false;
  /** Every text, call and item that began is complete. */
  #rests = false;
  readonly #storedNames = new GivenState();
  readonly #take = (kind: StateKind, id: unknown): void => this.#storedNames.add(kind, id);
  readonly #clientModel: string;
  readonly #echo: Buffer | null;

  constructor(context: StreamContext) {
    this.#clientModel = context.clientModel;
    this.#echo = echoedName(context);
  }

  get storedNames(): readonly StateName[] {
    return this.#storedNames.names;
  }

  get closed(): boolean {
    return this.finished;
  }

  get awaitsUsage(): boolean {
    return !this.finished && this.#rests;
  }

  inspect(event: StreamEvent): number {
    const { data } = event;
    // Some servers send chat's `[DONE]`.
    if (data === null || data.length === 0 || isDone(data)) return verdict.forward;
    view.wantsType = event.name === null;
    const read = readEvent(view, data);
    const type = event.name ?? view.type ?? '';
    if (read === null || view.hasError || type === 'error' || type === 'response.failed') {
      return this.#fail(data);
    }
    if (view.sequenceNumber >= 0) this.lastSequenceNumber = view.sequenceNumber;
    this.outputBytes += view.outputBytes;
    this.#noteResponse();
    if (isRecord(view.usage)) this.usage = mergeReports(this.usage, this.#readUsage());
    if (view.items.isKnown && !readItemIds(view.items.in(read), this.#take)) {
      return this.#fail(data);
    }

    if (endings.has(type) && !this.#isGoodEnding()) return verdict.failed;
    const result = this.#verdictOf(type, read);
    this.replacement = echoInEvent(event, read, view.model, this.#echo);
    return this.replacement === null ? result : result | verdict.replace;
  }

  completion(): string {
    return '';
  }

  #isGoodEnding(): boolean {
    const { status, background, incompleteDetails: details } = view;
    if (isBrokenStatus(status, background)) {
      this.failure = brokenEndingError(status);
      return false;
    }
    for (const word of [status, isRecord(details) ? details['reason'] : null]) {
      const ending = judgeEnding(word, this.outputBytes > 0 || this.#hasItems);
      if (ending === 'unknown') this.unknownEnding = String(word);
      else if (ending === 'broken' && background !== true) {
        this.failure = brokenEndingError(String(word));
        return false;
      }
    }
    return true;
  }

  #verdictOf(type: string, data: Buffer): number {
    if (type.endsWith('.delta')) {
      this.#rests = false;
      return verdict.content;
    }
    if (type.endsWith('.done')) this.#rests = true;
    else if (type.endsWith('.added')) this.#rests = false;
    switch (type) {
      case 'response.completed':
      case 'response.incomplete':
        this.finished = true;
        return verdict.terminal | verdict.content;
      case 'response.output_item.done':
        this.#hasItems = true;
        if (isSearch(recordAt(parseSearch(data), 'item'))) this.webSearches += 1;
        return verdict.content;
      case 'response.image_generation_call.partial_image':
        return verdict.content;
      default:
        return verdict.forward;
    }
  }

  #readUsage(): ReportedUsage | null {
    const tools = { tool_usage: view.toolUsage };
    const searches = Math.max(searchesIn(tools), this.webSearches);
    return readInclusiveUsage(view.usage, view.serviceTier, searches, imageTokensIn(tools));
  }

  #noteResponse(): void {
    if (typeof view.id !== 'string') return;
    this.#storedNames.add('response', view.id);
    if (isRecord(view.conversation)) this.#storedNames.add('conversation', view.conversation['id']);
    if (this.begun !== null) return;
    const createdAt = typeof view.createdAt === 'number' ? view.createdAt : 0;
    this.begun = { id: view.id, createdAt, model: this.#clientModel };
  }

  /** `response.failed` has the error in its response; `error` events have it at the top level or under `error`. */
  #fail(data: Buffer): number {
    const value = parseRecord(data);
    if (value !== null) {
      const last = readInclusiveUsage(recordAt(value, 'response')['usage']);
      this.usage = mergeReports(this.usage, last);
      const { type: _, sequence_number: __, ...flat } = value;
      const response = recordAt(value, 'response');
      const error = response['error'] ?? value['error'];
      const hasNone = isRecord(value['response']) && isAbsent(error);
      this.failure = hasNone ? brokenEndingError('failed') : failureObject(error ?? flat);
    } else this.failure = failureObject(null);
    return verdict.failed;
  }
}

/** Parses the event if it may end a search. Items are long, and most of them are not searches. */
function parseSearch(data: Buffer): JsonRecord {
  return (data.includes('"web_search_call"') ? parseRecord(data) : null) ?? {};
}
