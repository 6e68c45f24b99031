import { JsonCursor, keyBytes } from '#json/index.ts';
import { choiceBit, type ChoiceSet } from '../../choice-set.ts';
import type { EventView } from '../../event-view.ts';

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

/** What the tap wants to know of one event. One instance serves all streams, since reading is synchronous. */
export class CandidatesView implements EventView {
  hasContent = false;
  /** Candidates that the event has something of, and those it names a finish reason for. */
  begun: ChoiceSet = 0;
  ended: ChoiceSet = 0;
  /** The prompt was blocked: there will be no candidates. */
  isBlocked = false;
  hasError = false;
  outputBytes = 0;
  /** Range of the usage object; -1 when there is none. */
  usageStart = -1;
  usageEnd = -1;
  /** Range of the string `modelVersion`; -1 when there is none. */
  modelStart = -1;
  modelEnd = -1;

  read(data: Buffer): boolean {
    this.hasContent = false;
    this.begun = 0;
    this.ended = 0;
    this.isBlocked = false;
    this.hasError = false;
    this.outputBytes = 0;
    this.usageStart = -1;
    this.usageEnd = -1;
    this.modelStart = -1;
    this.modelEnd = -1;
    cursor.reset(data);
    const isObject = cursor.enterObject();
    if (isObject) this.#readRoot();
    const complete = isObject && !cursor.failed && cursor.ended;
    cursor.clear();
    return complete;
  }

  #readRoot(): void {
    while (cursor.nextMember()) {
      if (cursor.keyIs(key.candidates) && cursor.enterArray()) {
        while (cursor.nextElement()) {
          if (cursor.enterObject()) this.#readCandidate();
          else cursor.skip();
        }
      } else if (cursor.keyIs(key.usageMetadata) && !cursor.isEmpty()) {
        this.usageStart = cursor.at;
        this.usageEnd = cursor.skip();
      } else if (cursor.keyIs(key.modelVersion) && cursor.isString()) {
        this.modelStart = cursor.at;
        this.modelEnd = cursor.skip();
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
      else {
        if (cursor.keyIs(key.finishReason) && !cursor.isEmpty()) isEnd = true;
        cursor.skip();
      }
    }
    this.begun |= choiceBit(index);
    if (!isEnd) return;
    this.ended |= choiceBit(index);
    this.hasContent = true;
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

  /** A part is content by whatever data it holds; the `thought` mark alone is none. */
  #readPart(): void {
    while (cursor.nextMember()) {
      if (!cursor.keyIs(key.thought) && !cursor.isEmpty()) this.hasContent = true;
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
