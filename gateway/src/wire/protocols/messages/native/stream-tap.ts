import type { ReportedUsage } from '#canonical/index.ts';
import { echoedName, echoInEvent } from '../../shared/text/echo.ts';
import { brokenEndingError, judgeEnding } from '../../shared/text/endings.ts';
import { isDone, parseRecord, readEvent, frame, withEdits } from '../../shared/text/events.ts';
import { GivenState, type StateName } from '../../shared/state/named-state.ts';
import { type StreamContext, type StreamEvent, type StreamTap, verdict } from '../../protocol.ts';
import { isAbsent, isRecord, recordAt, type JsonRecord } from '../../shared/values.ts';
import { failureBody } from '../errors.ts';
import { MessageEventView } from './event-view.ts';
import { filesOf } from './state-members.ts';
import { echoBlockNames, type ToolNames } from './response.ts';
import { mergeReports } from '../../shared/usage/usage-numbers.ts';
import { mergeUsage, readUsage } from './usage.ts';

const fileId = '"file_id"';
const view = new MessageEventView();

export class MessagesStreamTap implements StreamTap {
  replacement: Buffer | null = null;
  failure: unknown = null;
  outputBytes = 0;
  /** The usage counts searches. */
  readonly webSearches = 0;
  unknownEnding: string | null = null;
  closed = false;
  /** The stop reason has come. */
  #isEnded = false;
  #hasOutput = false;
  readonly #echo: Buffer | null;
  readonly #toolNames: ToolNames | undefined;
  #given: GivenState | null = null;
  /** The latest counts, from several events. */
  #reported: JsonRecord = {};
  #usage: ReportedUsage | null = null;
  /** The final count of output has come, not only the one at the start. */
  #isCounted = false;
  /** At least one block began, and none is open. */
  #rests = false;

  constructor(context: StreamContext) {
    this.#echo = echoedName(context);
    this.#toolNames = context.toolNames;
  }

  get usage(): ReportedUsage | null {
    return this.#usage;
  }

  get given(): readonly StateName[] | undefined {
    return this.#given?.names;
  }

  /** Some servers end with the stop reason, and never send `message_stop`. */
  get finished(): boolean {
    return this.closed || this.#isEnded;
  }

  get awaitsUsage(): boolean {
    if (this.#isEnded) return !this.closed && !this.#isCounted;
    return !this.closed && (this.#rests || this.#isCounted);
  }

  inspect(event: StreamEvent): number {
    const { data } = event;
    if (data === null || data.length === 0 || isDone(data)) return verdict.forward;
    view.wantsType = event.name === null;
    const read = readEvent(view, data);
    const type = event.name ?? view.type ?? '';
    if (read === null || view.hasError || type === 'error') {
      this.failure = failureBody(parseRecord(data));
      return verdict.failed;
    }
    this.outputBytes += view.outputBytes;
    if (isRecord(view.container)) this.#give('container', view.container['id']);
    if (view.hasContent && type !== 'message_delta') this.#hasOutput = true;
    switch (type) {
      case 'message_start':
        if (this.closed) this.#forgetUsage();
        if (view.id !== null) this.#give('response', view.id);
        this.#takeUsage(view.usage);
        this.replacement = echoInEvent(event, read, view.model, this.#echo);
        return this.replacement === null ? verdict.forward : verdict.replace;
      case 'message_delta':
        this.#takeLastUsage(view.usage);
        return this.#noteEnding(view.stopReason);
      case 'message_stop':
        this.#takeLastUsage(view.usage);
        this.closed = true;
        return verdict.terminal;
      case 'content_block_stop':
        this.#rests = true;
        return view.hasContent ? verdict.content : verdict.forward;
      case 'content_block_start': {
        this.#rests = false;
        if (data.includes(fileId)) this.#giveFiles(data);
        const contentVerdict = view.hasContent ? verdict.content : verdict.forward;
        return this.#toolNames === undefined
          ? contentVerdict
          : contentVerdict | this.#rename(event, read, this.#toolNames);
      }
      default:
        return view.hasContent ? verdict.content : verdict.forward;
    }
  }

  #noteEnding(reason: unknown): number {
    const ending = judgeEnding(reason, this.#hasOutput);
    if (ending === 'broken') {
      this.failure = brokenEndingError(String(reason));
      return verdict.failed;
    }
    if (ending === 'unknown') this.unknownEnding = String(reason);
    if (!isAbsent(reason)) this.#isEnded = true;
    return view.hasContent ? verdict.content : verdict.forward;
  }

  /** Another message follows, and its counts have nothing to do with those before. */
  #forgetUsage(): void {
    this.#reported = {};
    this.#usage = null;
    this.#isCounted = false;
  }

  #takeLastUsage(usage: unknown): void {
    if (isRecord(usage) && !isAbsent(usage['output_tokens'])) this.#isCounted = true;
    this.#takeUsage(usage);
  }

  #takeUsage(usage: unknown): void {
    if (!isRecord(usage)) return;
    this.#reported = mergeUsage(this.#reported, usage);
    this.#usage = mergeReports(this.#usage, readUsage(this.#reported, this.#isCounted));
  }

  #give(kind: StateName['kind'], id: unknown): void {
    (this.#given ??= new GivenState()).add(kind, id);
  }

  /** Blocks of a hosted tool come complete, and once. */
  #giveFiles(data: Buffer): void {
    const block = recordAt(parseRecord(data) ?? {}, 'content_block');
    for (const { kind, id } of filesOf(block)) this.#give(kind, id);
  }

  #rename(event: StreamEvent, data: Buffer, names: ToolNames): number {
    const record = parseRecord(data);
    const edits = record === null ? [] : echoBlockNames(data, record, names);
    if (edits.length === 0) return verdict.forward;
    this.replacement = withEdits(event, data, edits);
    return verdict.replace;
  }

  completion(): string {
    return this.closed ? '' : frame('message_stop', '{"type":"message_stop"}');
  }
}
