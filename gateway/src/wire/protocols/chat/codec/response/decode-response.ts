import {
  type Block,
  type Candidate,
  type Citation,
  type GenerationResponse,
  noExtensions,
  type TextBlock,
  type TokenLogprob,
} from '#canonical/index.ts';
import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { moved, readCitations, readLogprobs } from './response-details.ts';
import { readResponseContent, readAudio, readImages, readRefusal } from './response-parts.ts';
import { readFinish } from './finish.ts';
import { contentId, contentState, hasReasoningContent, readReasoning } from '../reasoning.ts';
import { readCall, readFunctionCall } from '../tool-calls.ts';

/** Decodes a complete response. Members without a place elsewhere (fingerprints, tiers, filter results) are dropped. */
export function decodeResponse(json: JsonRecord): GenerationResponse {
  const choices = Array.isArray(json['choices']) ? json['choices'].filter(isRecord) : [];
  const ordered = choices.toSorted((a, b) => indexOf(a) - indexOf(b));
  return { candidates: ordered.map(decodeChoice), extensions: noExtensions };
}

function indexOf({ index }: JsonRecord): number {
  return typeof index === 'number' ? index : 0;
}

function decodeChoice(choice: JsonRecord): Candidate {
  const message = recordAt(choice, 'message');
  const blocks = decodeMessage(message, choice);
  const has = (type: Block['type']) => blocks.some((block) => block.type === type);
  const { finish_reason: reason, stop_reason: stopReason } = choice;
  const finish = readFinish(typeof reason === 'string' ? reason : null, stopReason, {
    calls: has('tool-call'),
    text: has('text'),
    refusal: has('refusal'),
  });
  return { blocks, finish };
}

function decodeMessage(message: JsonRecord, choice: JsonRecord): Block[] {
  const { blocks: reasoning, states } = readReasoning(message);
  const content = readResponseContent(message['content']);
  const refusal = readRefusal(message);
  const audio = readAudio(message['audio']);
  const calls = Array.isArray(message['tool_calls'])
    ? message['tool_calls'].map(readCall).filter((call) => call !== null)
    : [];
  const single = calls.length > 0 ? null : readFunctionCall(message['function_call']);
  if (single !== null) calls.push(single);
  const textState = states.get(contentId);
  const isContent = hasReasoningContent(message);
  const writtenBlocks: Block[] = [
    // Some servers send the same reasoning as parts of the content and beside it.
    ...(content.some(({ type }) => type === 'reasoning')
      ? []
      : reasoning.map((block) => (isContent ? { state: contentState, ...block } : block))),
    ...annotated(content, readCitations(message['annotations']), readLogprobs(choice['logprobs'])),
    ...readImages(message['images']),
  ];
  if (refusal !== '') writtenBlocks.push({ type: 'refusal', text: refusal });
  if (audio !== null) writtenBlocks.push(audio);
  const lastText = writtenBlocks.findLastIndex(({ type }) => type === 'text');
  return [
    ...writtenBlocks.map((block, index) =>
      index === lastText && textState !== undefined ? { ...block, state: textState } : block,
    ),
    ...calls.map((call) => {
      const state = call.id === null ? undefined : states.get(call.id);
      return state === undefined ? call : { ...call, state };
    }),
  ];
}

/** Citations count from the beginning of the content. Each goes to the text in which it lies. */
function annotated(
  content: readonly Block[],
  citations: readonly Citation[],
  logprobs: readonly TokenLogprob[] | undefined,
): Block[] {
  if (citations.length === 0 && logprobs === undefined) return [...content];
  const texts = content.filter((block) => block.type === 'text');
  const cited = new Map<Block, Citation[]>();
  for (const citation of citations) {
    const { text, offset } = textAt(texts, citation.start ?? 0);
    if (text === undefined) continue;
    cited.set(text, [...(cited.get(text) ?? []), moved(citation, -offset)]);
  }
  return content.map((block) => {
    if (block.type !== 'text') return block;
    const own = cited.get(block);
    return {
      ...block,
      ...(own !== undefined && { citations: own }),
      ...(block === texts[0] && logprobs !== undefined && { logprobs }),
    };
  });
}

function textAt(
  texts: readonly TextBlock[],
  start: number,
): { text: TextBlock | undefined; offset: number } {
  let offset = 0;
  for (const text of texts) {
    if (start < offset + text.text.length) return { text, offset };
    offset += text.text.length;
  }
  const last = texts.at(-1);
  return { text: last, offset: offset - (last?.text.length ?? 0) };
}
