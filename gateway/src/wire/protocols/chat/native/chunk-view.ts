import { JsonCursor, keyBytes } from '#json/index.ts';
import { ChoiceSet, EventRange, type EventView } from '../../shared/text/events.ts';
import { metricsKey } from './response.ts';

const key = Object.freeze({
  audio: keyBytes('audio'),
  data: keyBytes('data'),
  transcript: keyBytes('transcript'),
  choices: keyBytes('choices'),
  delta: keyBytes('delta'),
  error: keyBytes('error'),
  finishReason: keyBytes('finish_reason'),
  id: keyBytes('id'),
  index: keyBytes('index'),
  message: keyBytes('message'),
  model: keyBytes('model'),
  role: keyBytes('role'),
  usage: keyBytes('usage'),
});

/** Members of a delta with the model's output. */
const textKeys = [
  keyBytes('content'),
  keyBytes('reasoning_content'),
  keyBytes('reasoning'),
  keyBytes('tool_calls'),
  keyBytes('refusal'),
  keyBytes('function_call'),
];

/** Members with text inside tool calls and content parts. */
const innerTextKeys = ['function', 'custom', 'name', 'arguments', 'input', 'text', 'thinking'].map(
  keyBytes,
);

/**
 * Base64 of audio that counts as one byte of text. Streams send 16 bits at 24 kHz: 64,000 characters and about 20
 * tokens per second. Text has about one token per four bytes.
 */
const bytesPerSpokenByte = 800;

/** No form of a delta nests its text deeper. */
const deepestText = 6;

const cursor = new JsonCursor();

/** What the tap needs from one chunk. One instance serves all streams, since reading is synchronous. */
export class ChunkView implements EventView {
  hasContent = false;
  /** The same without the end of a choice. */
  hasDelta = false;
  /** The choices in the chunk, and those that it ends. */
  readonly choices = new ChoiceSet();
  hasError = false;
  /** The last finish reason in the chunk; undefined if there is none. */
  finishReason: unknown = undefined;
  hasChoices = false;
  /** The usage object, from the first of the places in `usage-places.ts` that has one. */
  readonly usage = new EventRange();
  outputBytes = 0;
  /** The `model` string. */
  readonly model = new EventRange();
  /** The id of the speech; undefined if absent. */
  audioId: unknown = undefined;

  read(data: Buffer): boolean {
    this.hasContent = false;
    this.hasDelta = false;
    this.choices.clear();
    this.hasError = false;
    this.finishReason = undefined;
    this.hasChoices = false;
    this.usage.clear();
    this.outputBytes = 0;
    this.model.clear();
    this.audioId = undefined;
    if (cursor.open(data)) this.#readRoot();
    return cursor.close();
  }

  #readRoot(): void {
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.choices)) this.#readChoices();
      else if (cursor.keyIs(key.model) && cursor.isString()) this.model.take(cursor);
      else if (cursor.keyIs(key.usage)) this.#readUsage();
      else if (cursor.keyIs(key.error)) {
        this.hasError = !cursor.isEmpty();
        cursor.skip();
      } else if (cursor.keyIs(metricsKey)) this.#readOtherUsage();
      else if (cursor.enterObject()) this.#readExtension();
      else cursor.skip();
    }
  }

  #readChoices(): void {
    if (!cursor.enterArray()) {
      cursor.skip();
      return;
    }
    while (cursor.nextElement()) {
      this.hasChoices = true;
      if (cursor.enterObject()) this.#readChoice();
      else cursor.skip();
    }
  }

  #readChoice(): void {
    let index = 0;
    let isEnd = false;
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.delta) && cursor.enterObject()) this.#readDelta();
      else if (cursor.keyIs(key.index)) index = cursor.skipCount();
      else if (cursor.keyIs(key.usage)) this.#readOtherUsage();
      else if (cursor.keyIs(key.message) && cursor.enterObject()) this.#readExtension();
      else if (cursor.keyIs(key.finishReason) && !cursor.isEmpty()) {
        isEnd = true;
        this.finishReason = cursor.read();
      } else {
        if (cursor.keyIs(key.error) && !cursor.isEmpty()) this.hasError = true;
        cursor.skip();
      }
    }
    this.choices.note(index, isEnd);
    if (isEnd) this.hasContent = true;
  }

  /** Servers invent members for content, so whatever a delta holds beside its role is content. */
  #readDelta(): void {
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.role) || cursor.isEmpty()) {
        cursor.skip();
        continue;
      }
      if (cursor.keyIs(key.usage)) {
        this.#readOtherUsage();
        continue;
      }
      this.hasContent = true;
      this.hasDelta = true;
      if (isOneOf(textKeys)) this.#readText(0);
      else if (cursor.keyIs(key.audio) && cursor.enterObject()) this.#readAudio();
      else cursor.skip();
    }
  }

  #readAudio(): void {
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.id)) this.audioId = cursor.read();
      else if (cursor.keyIs(key.transcript)) this.outputBytes += cursor.skipText();
      else if (cursor.keyIs(key.data)) {
        this.outputBytes += Math.ceil(cursor.skipText() / bytesPerSpokenByte);
      } else cursor.skip();
    }
  }

  #readText(depth: number): void {
    if (depth > deepestText) cursor.skip();
    else if (cursor.isString()) this.outputBytes += cursor.skipText();
    else if (cursor.enterArray()) while (cursor.nextElement()) this.#readText(depth + 1);
    else if (cursor.enterObject()) {
      while (cursor.nextMember()) {
        if (isOneOf(innerTextKeys)) this.#readText(depth + 1);
        else cursor.skip();
      }
    } else cursor.skip();
  }

  /** An object of which only the usage matters. */
  #readExtension(): void {
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.usage)) this.#readOtherUsage();
      else cursor.skip();
    }
  }

  /** That of the root, wherever it stands, is taken before all others. */
  #readOtherUsage(): void {
    if (this.usage.isKnown) cursor.skip();
    else this.#readUsage();
  }

  #readUsage(): void {
    if (cursor.isEmpty()) cursor.skip();
    else this.usage.take(cursor);
  }
}

function isOneOf(keys: readonly Buffer[]): boolean {
  // A loop by index: an iterator for every member of every event costs more than the comparisons.
  for (let i = 0; i < keys.length; i += 1) if (cursor.keyIs(keys[i]!)) return true;
  return false;
}
