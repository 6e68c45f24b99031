import type { ToolNameRule } from '../../../tool-names.ts';
import {
  refusesPrefill,
  refusesSampling,
  type Thinking,
  thinkingOf,
} from '../../thinking-models.ts';

/** What is known of an upstream's model by its name. */
export interface ModelFacts {
  /** The vendor's own rules hold. Other models that speak this protocol have rules of their own, mostly fewer. */
  readonly isClaude: boolean;
  /** Only when `isClaude`: how others are asked to think is theirs to say. */
  readonly thinking: Thinking | null;
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
  const known = remembered.get(model);
  if (known !== undefined) return known;
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
    isClaude: true,
    thinking,
    refusesPrefill: refusesPrefill(name),
    refusesSampling: refusesSampling(name),
    takesSystemTurns,
    wantsToolsOfHistory: isOfOtherHost,
    toolNames: isOfOtherHost ? shortToolNames : longToolNames,
  };
}

const ofOthers: ModelFacts = Object.freeze({
  isClaude: false,
  thinking: null,
  refusesPrefill: false,
  refusesSampling: false,
  takesSystemTurns: null,
  wantsToolsOfHistory: false,
  toolNames: shortToolNames,
});
