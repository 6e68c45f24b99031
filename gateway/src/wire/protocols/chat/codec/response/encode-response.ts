import type {
  Block,
  Candidate,
  Citation,
  GenerationResponse,
  NativeState,
  TextBlock,
  TokenLogprob,
  TokenUsage,
} from '#canonical/index.ts';
import type { ResponseContext } from '../../../codec.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { moved, writeCitation, writeLogprobs, writeUsage } from './response-details.ts';
import { ResponseText, responseId, callId, markdownImage, wordsOf } from './response-parts.ts';
import { writeFinish } from './finish.ts';
import { wantsFunctionCall, writeCall } from '../tool-calls.ts';
import { memberName } from '../request/message-members.ts';
import { contentId, ownDetail } from '../reasoning.ts';

/** Encodes a complete response for a client. */
export function encodeResponse(
  response: GenerationResponse,
  usage: TokenUsage | null,
  context: ResponseContext,
): JsonRecord {
  return {
    id: responseId(context.requestId),
    object: 'chat.completion',
    created: context.createdAt,
    model: context.model,
    choices: response.candidates.map((candidate, index) => encodeChoice(candidate, index, context)),
    ...(usage === null ? {} : { usage: writeUsage(usage) }),
  };
}

function encodeChoice(candidate: Candidate, index: number, context: ResponseContext): JsonRecord {
  const message = new MessageWriter(index, context);
  for (const block of candidate.blocks) message.add(block);
  const { calls, logprobs } = message;
  const callKind = calls.length === 0 ? 'none' : message.isLegacy ? 'function' : 'tools';
  return {
    index,
    message: message.json(),
    logprobs: logprobs.length === 0 ? null : writeLogprobs(logprobs),
    finish_reason: writeFinish(candidate.finish, callKind),
  };
}

class MessageWriter {
  readonly calls: JsonRecord[] = [];
  readonly logprobs: TokenLogprob[] = [];
  readonly isLegacy: boolean;
  readonly #index: number;
  readonly #context: ResponseContext;
  readonly #place = new ResponseText();
  readonly #details: JsonRecord[] = [];
  readonly #citations: Citation[] = [];
  readonly #members: Record<string, unknown> = {};
  #content = '';
  #reasoning = '';
  #refusal = '';

  constructor(index: number, context: ResponseContext) {
    this.#index = index;
    this.#context = context;
    this.isLegacy = wantsFunctionCall(context.request);
  }

  add(block: Block): void {
    switch (block.type) {
      case 'text':
        this.#addText(block);
        return;
      case 'reasoning':
        this.#addReasoning(block.text);
        this.#addState(block.state, null);
        return;
      case 'tool-call': {
        this.#place.interrupt();
        const id = block.id ?? callId(this.#context.requestId, this.#index, this.calls.length);
        this.#addState(block.state, id);
        this.calls.push(writeCall(block, id));
        return;
      }
      case 'refusal':
        this.#place.interrupt();
        this.#refusal += block.text;
        return;
      case 'image': {
        const markdown = markdownImage(block);
        if (markdown !== null) this.#append(this.#place.openImage(), markdown);
        return;
      }
      default:
        this.#addOther(block);
    }
  }

  /** The members, in the order of the protocol's own responses. */
  json(): JsonRecord {
    const hasOthers = this.calls.length > 0 || this.#refusal !== '';
    return {
      role: 'assistant',
      content: this.#content === '' && hasOthers ? null : this.#content,
      refusal: this.#refusal === '' ? null : this.#refusal,
      ...(this.#reasoning !== '' && { reasoning_content: this.#reasoning }),
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      ...(this.#citations.length > 0 && { annotations: this.#citations.map(writeCitation) }),
      ...this.#callMembers(),
      ...this.#members,
    };
  }

  #callMembers(): JsonRecord {
    const [first] = this.calls;
    if (first === undefined) return {};
    return this.isLegacy ? { function_call: first['function'] } : { tool_calls: this.calls };
  }

  #addText({ text, citations, logprobs, state }: TextBlock): void {
    if (text !== '') this.#append(this.#place.openText(), text);
    const start = this.#place.textStart;
    for (const citation of citations ?? []) this.#citations.push(moved(citation, start));
    if (logprobs !== undefined && this.#context.request.logprobs !== null) {
      this.logprobs.push(...logprobs);
    }
    this.#addState(state, contentId);
  }

  #append(gap: string, text: string): void {
    this.#content += gap + text;
    this.#place.contentLength += text.length;
  }

  #addReasoning(text: string): void {
    if (text === '') {
      this.#place.reasoningStart = this.#place.reasoningLength;
      this.#place.interrupt();
      return;
    }
    this.#reasoning += this.#place.openReasoning() + text;
    this.#place.reasoningLength += text.length;
  }

  #addState(state: NativeState | undefined, id: string | null): void {
    // Only envelopes are useful to a client, which can return them.
    if (state?.kind !== 'envelope') return;
    const { reasoningStart: start, reasoningLength: end } = this.#place;
    this.#details.push(ownDetail({ state, id, start, end }, this.#details.length));
  }

  #addOther(block: Block): void {
    this.#place.interrupt();
    const words = wordsOf(block);
    const member = block.type === 'opaque' && block.protocol === 'chat' ? memberName(block) : null;
    if (block.type === 'opaque' && member !== null) this.#members[member] = block.value;
    else if (words !== null) this.#addText({ type: 'text', text: words });
    this.#place.interrupt();
  }
}
