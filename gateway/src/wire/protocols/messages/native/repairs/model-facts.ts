import type { ToolNameRule } from '../../../shared/tools/tool-names.ts';
import {
  refusesPrefill,
  refusesSampling,
  type Thinking,
  thinkingOf,
} from '../../thinking-models.ts';

/**
 * What is known of an upstream's model by its name, which is all that tells: many hosts serve the same models. Models of
 * other makers that speak this protocol have rules of their own, mostly fewer.
 */
export interface ModelFacts {
  /** Null: how it is asked to think is its maker's to say. */
  readonly thinking: Thinking | null;
  /** A thinking block goes back with a signature, or not at all. */
  readonly signsThoughts: boolean;
  /** `metadata.user_id` of a request. */
  readonly takesUserId: boolean;
  /** Images have the sizes that the maker documents. */
  readonly limitsImages: boolean;
  /** Turns of one speaker that follow each other are joined there. */
  readonly joinsTurns: boolean;
  readonly refusesPrefill: boolean;
  readonly refusesSampling: boolean;
  /** Instructions between the turns, `role: "system"`; null: unknown, so they are left where they are. */
  readonly takesSystemTurns: boolean | null;
  /** Hosts that name the model so want every tool of the history to be defined. */
  readonly wantsToolsOfHistory: boolean;
  readonly toolNames: ToolNameRule;
}

const toolName = /^[a-zA-Z0-9_-]+$/;
/** What the vendor itself takes. */
export const longToolNames: ToolNameRule = Object.freeze({ toolName, toolNameLength: 128 });
/** What everybody takes who speaks this protocol. */
export const shortToolNames: ToolNameRule = Object.freeze({ toolName, toolNameLength: 64 });

/** Upstream names come from the configuration, so there are few; the bound is for wildcard channels. */
const mostRemembered = 512;
const remembered = new Map<string, ModelFacts>();

export function factsOf(model: string): ModelFacts {
  const rememberedFacts = remembered.get(model);
  if (rememberedFacts !== undefined) return rememberedFacts;
  const facts = Object.freeze(read(model.toLowerCase()));
  if (remembered.size >= mostRemembered) remembered.clear();
  remembered.set(model, facts);
  return facts;
}

function read(name: string): ModelFacts {
  if (!name.includes('claude')) return ofOthers;
  const thinking = thinkingOf(name);
  // Since Opus 4.8: https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
  const takesSystemTurns = thinking.mode === 'adaptive' && !/4[-.]7(?!\d)/.test(name);
  const isOfOtherHost = /(^|\.)anthropic\.claude/.test(name);
  return {
    thinking,
    signsThoughts: true,
    takesUserId: true,
    limitsImages: true,
    joinsTurns: true,
    refusesPrefill: refusesPrefill(name),
    refusesSampling: refusesSampling(name),
    takesSystemTurns,
    wantsToolsOfHistory: isOfOtherHost,
    toolNames: isOfOtherHost ? shortToolNames : longToolNames,
  };
}

const ofOthers: ModelFacts = Object.freeze({
  thinking: null,
  signsThoughts: false,
  takesUserId: false,
  limitsImages: false,
  joinsTurns: false,
  refusesPrefill: false,
  refusesSampling: false,
  takesSystemTurns: null,
  wantsToolsOfHistory: false,
  toolNames: shortToolNames,
});
