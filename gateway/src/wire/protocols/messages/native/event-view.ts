import { JsonCursor, keyBytes } from '#json/index.ts';
import { EventRange, type EventView } from '../../shared/text/events.ts';

const key = Object.freeze({
  container: keyBytes('container'),
  contentBlock: keyBytes('content_block'),
  delta: keyBytes('delta'),
  error: keyBytes('error'),
  id: keyBytes('id'),
  message: keyBytes('message'),
  model: keyBytes('model'),
  name: keyBytes('name'),
  partialJson: keyBytes('partial_json'),
  stopReason: keyBytes('stop_reason'),
  text: keyBytes('text'),
  thinking: keyBytes('thinking'),
  type: keyBytes('type'),
  usage: keyBytes('usage'),
});

const cursor = new JsonCursor();

/** What the tap needs from one event. One instance serves all streams, since reading is synchronous. */
export class MessageEventView implements EventView {
  /** Whether to read the type. The event's name usually gives it. */
  wantsType = false;
  type: string | null = null;
  /** The event has a delta with a payload, a block with content, or a stop reason. */
  hasContent = false;
  hasError = false;
  /** Why the message ended; undefined if the event does not say so. */
  stopReason: unknown = undefined;
  outputBytes = 0;
  /** `usage` beside the delta or inside the message, parsed; undefined if absent. */
  usage: unknown = undefined;
  /** The string `message.model`. */
  readonly model = new EventRange();
  /** The container of the message or of its delta, parsed; undefined if absent. */
  container: unknown = undefined;
  /** The message's own. */
  id: string | null = null;

  read(data: Buffer): boolean {
    this.type = null;
    this.hasContent = false;
    this.hasError = false;
    this.stopReason = undefined;
    this.outputBytes = 0;
    this.usage = undefined;
    this.model.clear();
    this.container = undefined;
    this.id = null;
    if (cursor.open(data)) this.#readRoot();
    return cursor.close();
  }

  #readRoot(): void {
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.delta) && cursor.enterObject()) this.#readDelta();
      else if (cursor.keyIs(key.type) && this.wantsType) this.type = readString();
      else if (cursor.keyIs(key.usage)) this.usage = cursor.read();
      else if (cursor.keyIs(key.contentBlock) && cursor.enterObject()) this.#readBlock();
      else if (cursor.keyIs(key.message) && cursor.enterObject()) this.#readMessage();
      else {
        if (cursor.keyIs(key.error)) this.hasError = !cursor.isEmpty();
        cursor.skip();
      }
    }
  }

  /** Reads a delta of a block or of the message. The two share no member but `type`. */
  #readDelta(): void {
    let isBlockDelta = true;
    let hasPayload = false;
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.type)) cursor.skip();
      else if (
        cursor.keyIs(key.text) ||
        cursor.keyIs(key.partialJson) ||
        cursor.keyIs(key.thinking)
      ) {
        if (!cursor.isEmpty()) hasPayload = true;
        this.outputBytes += cursor.skipText();
      } else if (cursor.keyIs(key.stopReason)) {
        isBlockDelta = false;
        if (!cursor.isEmpty()) this.hasContent = true;
        this.stopReason = cursor.read();
      } else {
        if (!cursor.isEmpty()) hasPayload = true;
        if (cursor.keyIs(key.container)) this.container = cursor.read();
        else cursor.skip();
      }
    }
    if (isBlockDelta && hasPayload) this.hasContent = true;
  }

  /** Text and thinking begin as empty frames. Any other block is content as soon as it begins. */
  #readBlock(): void {
    let type: string | null = null;
    let hasText = false;
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.type)) type = readString();
      else if (cursor.keyIs(key.text) || cursor.keyIs(key.thinking)) {
        if (!cursor.isEmpty()) hasText = true;
        this.outputBytes += cursor.skipText();
      } else if (cursor.keyIs(key.name)) this.outputBytes += cursor.skipText();
      else cursor.skip();
    }
    if (hasText || (type !== 'text' && type !== 'thinking')) this.hasContent = true;
  }

  #readMessage(): void {
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.usage)) this.usage = cursor.read();
      else if (cursor.keyIs(key.model) && cursor.isString()) this.model.take(cursor);
      else if (cursor.keyIs(key.container)) this.container = cursor.read();
      else if (cursor.keyIs(key.id)) this.id = readString();
      else cursor.skip();
    }
  }
}

function readString(): string | null {
  const value = cursor.read();
  return typeof value === 'string' ? value : null;
}
