import {
  beginWithUser,
  takeTurns,
  endWithUser,
  trimBegun,
  quoteOrphans,
  putResultsFirst,
} from './turn-order.ts';
import { answerCalls, mergeResults } from './answer-calls.ts';
import { dropBetaFields, fitVersion } from './beta-fields.ts';
import { limitMarkers, orderLifetimes, unmarkUncacheable } from './cache-rules.ts';
import { renameCalls } from './call-ids.ts';
import type { Draft } from './draft.ts';
import { dropBlankTexts, fillEmptyTurns } from './empty-content.ts';
import { checkImageSizes, repairImages } from './images.ts';
import { checkCitations, dropBlankStops, trimMetadata, dropSampling } from './members.ts';
import { repairSpelling, repairSurrogates } from './spelling.ts';
import { placeSystemTurns } from './system-turns.ts';
import {
  adaptiveToEnabled,
  boundBudget,
  enabledToAdaptive,
  fitEffort,
  freeForcedChoice,
  keepThinking,
  dropIncomplete,
  dropUnsigned,
  stopThinking,
} from './thinking.ts';
import { renameTools } from './tool-names.ts';
import { wrapInputs, writeResults } from './tool-values.ts';
import {
  checkChoice,
  defineCalledTools,
  dropIdleChoice,
  dropRepeatedTools,
  loadOneTool,
  modernizeSchemas,
  repairSchemas,
} from './tools.ts';

export interface Rule {
  /** Stable: usage rows and `x-sluice-rewrites` contain it, and docs/repairs.md explains it. */
  readonly id: `b${number}`;
  readonly sentence: string;
  /**
   * @returns whether anything changed
   * @throws GatewayError if it cannot be repaired without guessing.
   */
  readonly apply: (draft: Draft) => boolean;
}

const rule = (id: Rule['id'], sentence: string, apply: Rule['apply']): Rule =>
  Object.freeze({ id, sentence, apply });

/**
 * The repairs of what upstreams refuse, in order: each rule works on the result of the one before. Values come before
 * their blocks, blocks before turns, turns before counts over all of them. For every request, `b1` also drops
 * `temperature`, and `b2` bounds `max_tokens`, see the patches.
 */
export const rules: readonly Rule[] = Object.freeze([
  rule('b43', 'numbers and booleans are not written as text', repairSpelling),
  rule('b39', 'fields of betas come with their header', dropBetaFields),
  rule('b4', 'newer models decide how much to think', enabledToAdaptive),
  rule('b5', 'older models think within a budget', adaptiveToEnabled),
  rule('b3', 'a thinking budget is at least 1024 and less than max_tokens', boundBudget),
  rule('b6', 'some models always think', keepThinking),
  rule('b7', 'a model that must call a tool cannot think first', freeForcedChoice),
  rule('b8', 'the effort is one that the model knows', fitEffort),
  rule('b29', 'the client’s tools have names that the upstream takes', renameTools),
  rule('b41', 'text contains no half characters', repairSurrogates),
  rule('b28', 'a thinking block is complete', dropIncomplete),
  rule('b27', 'a thinking block is signed', dropUnsigned),
  rule('b38', 'documents and citations are where the version allows them', fitVersion),
  rule('b22', 'a tool is called with an object', wrapInputs),
  rule('b23', 'a tool result is text or blocks', writeResults),
  rule('b13', 'a text block holds more than white space', dropBlankTexts),
  rule('b12', 'a message is not empty', fillEmptyTurns),
  rule('b9', 'instructions stand where the model accepts them', placeSystemTurns),
  rule('b10', 'the first message is the user’s', beginWithUser),
  rule('b21', 'ids of tool calls are unique and plain', renameCalls),
  rule('b17', 'a tool call is answered by the next turn', answerCalls),
  rule('b18', 'a tool result answers a call of the turn before', quoteOrphans),
  rule('b19', 'a tool call has one result', mergeResults),
  rule('b20', 'tool results come first in their turn', putResultsFirst),
  rule('b11', 'user and assistant take turns', takeTurns),
  rule('b24', 'a prefill does not end in white space', trimBegun),
  rule('b25', 'newer models need a user message at the end', endWithUser),
  rule('b26', 'a model that thinks gets its thinking back within a step', stopThinking),
  rule('b1', 'sampling parameters are removed', dropSampling),
  rule('b30', 'tool names are unique', dropRepeatedTools),
  rule('b31', 'a tool’s schema is an object’s', repairSchemas),
  rule('b45', 'a tool’s schema is of the current draft', modernizeSchemas),
  rule('b34', 'tools that were called are defined', defineCalledTools),
  rule('b14', 'a cache marker sits on what can be cached', unmarkUncacheable),
  rule('b35', 'at least one tool is loaded', loadOneTool),
  rule('b15', 'there are at most four cache markers', limitMarkers),
  rule('b16', 'longer cache lifetimes come first', orderLifetimes),
  rule('b32', 'there are tools to choose from', dropIdleChoice),
  rule('b33', 'the chosen tool is among the tools', checkChoice),
  rule('b36', 'an image is what its type says, in plain base64', repairImages),
  rule('b37', 'an image is not too large', checkImageSizes),
  rule('b40', 'metadata is an opaque user id', trimMetadata),
  rule('b42', 'a stop sequence holds more than white space', dropBlankStops),
  rule('b44', 'structured output has no citations', checkCitations),
]);
