import { JsonCursor, keyBytes } from '#json/index.ts';
import { ChoiceSet, EventRange, type EventView } from '../../shared/text/events.ts';

const key = Object.freeze({
  args: keyBytes('args'),
  blockReason: keyBytes('blockReason'),
  candidates: keyBytes('candidates'),
  code: keyBytes('code'),
  content: keyBytes('content'),
  error: keyBytes('error'),
  executableCode: keyBytes('executableCode'),
  finishReason: keyBytes('finishReason'),
  functionCall: keyBytes('functionCall'),
  index: keyBytes('index'),
  modelVersion: keyBytes('modelVersion'),
  name: keyBytes('name'),
  parts: keyBytes('parts'),
  promptFeedback: keyBytes('promptFeedback'),
  text: keyBytes('text'),
  thought: keyBytes('thought'),
  usageMetadata: keyBytes('usageMetadata'),
});

const cursor = new JsonCursor();

/** What the tap needs from one event. One instance serves all streams, since reading is synchronous. */
export class CandidatesView implements EventView {
  hasContent = false;
  /** The same without the end of a candidate. */
  hasPart = false;
  /** The candidates in the event, and those that it ends. */
  readonly candidates = new ChoiceSet();
  /** The prompt was blocked, so there will be no candidates. */
  isBlocked = false;
  hasError = false;
  /** The last finish reason in the event; undefined if there is none. */
  finishReason: unknown = undefined;
  outputBytes = 0;
  /** The usage object. */
  readonly usage = new EventRange();
  /** The string `modelVersion`. */
  readonly model = new EventRange();

  read(data: Buffer): boolean {
    this.hasContent = false;
    this.hasPart = false;
    this.candidates.clear();
    this.isBlocked = false;
    this.hasError = false;
    this.finishReason = undefined;
    this.outputBytes = 0;
    this.usage.clear();
    this.model.clear();
    if (cursor.open(data)) this.#readRoot();
    return cursor.close();
  }

  #readRoot(): void {
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.candidates) && cursor.enterArray()) {
        while (cursor.nextElement()) {
          if (cursor.enterObject()) this.#readCandidate();
          else cursor.skip();
        }
      } else if (cursor.keyIs(key.usageMetadata) && !cursor.isEmpty()) {
        this.usage.take(cursor);
      } else if (cursor.keyIs(key.modelVersion) && cursor.isString()) {
        this.model.take(cursor);
      } else if (cursor.keyIs(key.promptFeedback) && cursor.enterObject()) {
        this.#readFeedback();
      } else {
        if (cursor.keyIs(key.error)) this.hasError = !cursor.isEmpty();
        cursor.skip();
      }
    }
  }

  #readCandidate(): void {
    let index = 0;
    let isEnd = false;
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.content) && cursor.enterObject()) this.#readContent();
      else if (cursor.keyIs(key.index)) index = cursor.skipCount();
      else if (cursor.keyIs(key.finishReason) && !cursor.isEmpty()) {
        isEnd = true;
        this.finishReason = cursor.read();
      } else cursor.skip();
    }
    this.candidates.note(index, isEnd);
    if (isEnd || this.hasPart) this.hasContent = true;
  }

  #readFeedback(): void {
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.blockReason) && !cursor.isEmpty()) {
        this.isBlocked = true;
        this.hasContent = true;
      }
      cursor.skip();
    }
  }

  #readContent(): void {
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.parts) && cursor.enterArray()) {
        while (cursor.nextElement()) {
          if (cursor.enterObject()) this.#readPart();
          else cursor.skip();
        }
      } else cursor.skip();
    }
  }

  /** Any data makes a part content. The mark `thought` alone does not. */
  #readPart(): void {
    while (cursor.nextMember()) {
      if (!cursor.keyIs(key.thought) && !cursor.isEmpty()) this.hasPart = true;
      if (cursor.keyIs(key.text)) this.outputBytes += cursor.skipText();
      else if (cursor.keyIs(key.functionCall) && cursor.enterObject()) this.#measure();
      else if (cursor.keyIs(key.executableCode) && cursor.enterObject()) this.#measure();
      else cursor.skip();
    }
  }

  /** Inside a call or a piece of code. */
  #measure(): void {
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.name) || cursor.keyIs(key.code)) this.outputBytes += cursor.skipText();
      else if (cursor.keyIs(key.args)) {
        const start = cursor.at;
        this.outputBytes += cursor.skip() - start;
      } else cursor.skip();
    }
  }
}
