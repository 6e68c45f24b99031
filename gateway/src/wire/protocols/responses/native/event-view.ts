import { JsonCursor, keyBytes } from '#json/index.ts';
import { EventRange, type EventView } from '../../shared/text/events.ts';

const key = Object.freeze({
  background: keyBytes('background'),
  incompleteDetails: keyBytes('incomplete_details'),
  conversation: keyBytes('conversation'),
  createdAt: keyBytes('created_at'),
  delta: keyBytes('delta'),
  error: keyBytes('error'),
  id: keyBytes('id'),
  item: keyBytes('item'),
  model: keyBytes('model'),
  output: keyBytes('output'),
  response: keyBytes('response'),
  serviceTier: keyBytes('service_tier'),
  toolUsage: keyBytes('tool_usage'),
  sequenceNumber: keyBytes('sequence_number'),
  status: keyBytes('status'),
  type: keyBytes('type'),
  usage: keyBytes('usage'),
});

const cursor = new JsonCursor();

/** What the tap needs from one event. One instance serves all streams, since reading is synchronous. */
export class ResponseEventView implements EventView {
  /** Whether to read the type. The event's name usually gives it. */
  wantsType = false;
  type: string | null = null;
  sequenceNumber = -1;
  outputBytes = 0;
  hasError = false;
  /** Members of `response`, parsed; undefined if absent. */
  id: unknown = undefined;
  createdAt: unknown = undefined;
  conversation: unknown = undefined;
  status: unknown = undefined;
  incompleteDetails: unknown = undefined;
  background: unknown = undefined;
  usage: unknown = undefined;
  serviceTier: unknown = undefined;
  toolUsage: unknown = undefined;
  /** The string `response.model`. */
  readonly model = new EventRange();
  /** `item`, or the list `response.output`. The tap walks them separately, since their keys may have escapes. */
  readonly items = new EventRange();

  read(data: Buffer): boolean {
    this.type = null;
    this.sequenceNumber = -1;
    this.outputBytes = 0;
    this.hasError = false;
    this.id = undefined;
    this.createdAt = undefined;
    this.conversation = undefined;
    this.status = undefined;
    this.incompleteDetails = undefined;
    this.background = undefined;
    this.items.clear();
    this.usage = undefined;
    this.serviceTier = undefined;
    this.toolUsage = undefined;
    this.model.clear();
    if (cursor.open(data)) this.#readRoot();
    return cursor.close();
  }

  #readRoot(): void {
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.delta)) this.outputBytes += cursor.skipText();
      else if (cursor.keyIs(key.sequenceNumber)) this.sequenceNumber = cursor.skipCount();
      else if (cursor.keyIs(key.type) && this.wantsType) {
        const type = cursor.read();
        this.type = typeof type === 'string' ? type : null;
      } else if (cursor.keyIs(key.response) && cursor.enterObject()) this.#readResponse();
      else if (cursor.keyIs(key.item)) this.items.take(cursor);
      else if (cursor.keyIs(key.usage)) this.usage ??= cursor.read();
      else {
        if (cursor.keyIs(key.error)) this.hasError = !cursor.isEmpty();
        cursor.skip();
      }
    }
  }

  #readResponse(): void {
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.id)) this.id = cursor.read();
      else if (cursor.keyIs(key.createdAt)) this.createdAt = cursor.read();
      else if (cursor.keyIs(key.status)) this.status = cursor.read();
      else if (cursor.keyIs(key.incompleteDetails)) this.incompleteDetails = cursor.read();
      else if (cursor.keyIs(key.background)) this.background = cursor.read();
      else if (cursor.keyIs(key.usage)) this.usage = cursor.read() ?? this.usage;
      else if (cursor.keyIs(key.conversation)) this.conversation = cursor.read();
      else if (cursor.keyIs(key.output)) this.items.take(cursor);
      else if (cursor.keyIs(key.serviceTier)) this.serviceTier = cursor.read();
      else if (cursor.keyIs(key.toolUsage)) this.toolUsage = cursor.read();
      else if (cursor.keyIs(key.model) && cursor.isString()) this.model.take(cursor);
      else cursor.skip();
    }
  }
}
