import {
  reasoningEfforts,
  type GenerationRequest,
  type ReasoningRequest,
} from '#canonical/index.ts';
import type { EncodeTarget } from '../../../codec.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import { isRecord } from '../../../shared/values.ts';
import { type Effort, type Thinking, thinkingOf } from '../../thinking-models.ts';
import type { WireObject } from '../../wire.ts';

export interface EncodedReasoning {
  readonly thinking: WireObject | null;
  readonly effort: string | null;
}

export interface ReasoningContext {
  readonly target: EncodeTarget;
  readonly maxTokens: number;
  /** The choice requires a tool call. */
  readonly forced: boolean;
  /** The last step of a tool loop lacks its signed thinking. */
  readonly brokenLoop: boolean;
}

const nothing: EncodedReasoning = Object.freeze({ thinking: null, effort: null });

/** The smallest budget that upstreams accept. */
const leastBudget = 1024;

/**
 * Encodes the reasoning settings. Without any, the members stay absent. A budget is always below `max_tokens`. If that
 * leaves too little for a budget, thinking is left out.
 */
export function encodeReasoning(
  { reasoning: wish, extensions }: Pick<GenerationRequest, 'reasoning' | 'extensions'>,
  context: ReasoningContext,
  losses: Losses,
): EncodedReasoning {
  if (wish === null) return nothing;
  // With a negative budget, the model decides.
  const reasoning = (wish.budget ?? 0) < 0 ? { ...wish, budget: null } : wish;
  const model = thinkingOf(context.target.model);
  const own = extensions.find(
    ({ protocol, name }) => protocol === 'messages' && name === 'thinking',
  );
  if (own !== undefined) {
    const effort = supportedEffort(reasoning, model, losses);
    return { thinking: isRecord(own.value) ? own.value : null, effort };
  }
  const isOff = reasoning.mode === 'off' || reasoning.effort === 'none' || reasoning.budget === 0;
  if (cannotThink(model, context.target)) {
    if (!isOff) losses.dropped('reasoning');
    return nothing;
  }
  const effort = supportedEffort(reasoning, model, losses);
  if (isOff) return turnOff(model, effort, losses);
  const isManual =
    model.mode === 'manual' || (model.mode === 'either' && reasoning.budget !== null);
  // An adaptive model may have decided not to think before its calls.
  const isHindered = context.forced || (isManual && context.brokenLoop);
  if (isHindered && model.off !== null) {
    losses.approximated('reasoning');
    return turnOff(model, effort, losses);
  }
  if (isManual) return thinkWithin(reasoning, context.maxTokens, effort, losses);
  return { thinking: { type: 'adaptive', ...display(reasoning) }, effort };
}

function cannotThink(model: Thinking, { capabilities }: EncodeTarget): boolean {
  return model.mode === 'none' || (capabilities.size > 0 && !capabilities.has('reasoning'));
}

function turnOff(model: Thinking, effort: Effort | null, losses: Losses): EncodedReasoning {
  if (model.off !== null) return { thinking: { type: model.off }, effort };
  losses.approximated('reasoning');
  return { thinking: null, effort: model.efforts[0] ?? null };
}

function thinkWithin(
  reasoning: ReasoningRequest,
  maxTokens: number,
  effort: Effort | null,
  losses: Losses,
): EncodedReasoning {
  if (maxTokens <= leastBudget) {
    losses.dropped('reasoning');
    return { thinking: null, effort };
  }
  const budget = boundBudget(reasoning, maxTokens);
  if (reasoning.budget !== null && budget !== reasoning.budget)
    losses.approximated('reasoning.budget');
  const displayMember = reasoning.show === false ? { display: 'omitted' } : {};
  return { thinking: { type: 'enabled', budget_tokens: budget, ...displayMember }, effort };
}

const budgets: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: Number.POSITIVE_INFINITY,
};

/** A budget that the gateway chooses leaves a quarter of the output for text. The client's own budget stays. */
function boundBudget({ budget, effort }: ReasoningRequest, maxTokens: number): number {
  const most = budget === null ? Math.floor((maxTokens * 3) / 4) : maxTokens - 1;
  const wantedBudget = budget ?? budgets[effort ?? 'medium'] ?? leastBudget;
  return Math.max(leastBudget, Math.min(wantedBudget, most));
}

/** The model's highest level that does not exceed the requested one. */
function supportedEffort(
  { mode, effort, budget }: ReasoningRequest,
  model: Thinking,
  losses: Losses,
): Effort | null {
  const isBudget = budget !== null && effort === null;
  if (isBudget && model.mode !== 'adaptive') return null;
  const wantedEffort = isBudget ? effortOf(budget) : effort;
  if (wantedEffort === null || wantedEffort === 'none' || budget === 0) return null;
  if (model.efforts.length === 0) {
    // Without levels, the budget carries the effort. An effort beside a budget has no place.
    if (budget !== null) losses.dropped('reasoning.effort');
    return null;
  }
  if (budget !== null && model.mode === 'adaptive') losses.approximated('reasoning.budget');
  if (wantedEffort === 'minimal') {
    if (!isBudget) losses.approximated('reasoning.effort');
    return 'low';
  }
  const nearest = model.efforts.findLast((level) => rank(level) <= rank(wantedEffort));
  if (nearest !== wantedEffort && mode === 'on') losses.approximated('reasoning.effort');
  return nearest ?? null;
}

const levels: readonly string[] = reasoningEfforts;
const rank = (level: string): number => levels.indexOf(level);

function effortOf(budget: number): ReasoningRequest['effort'] {
  if (budget <= 512) return 'minimal';
  if (budget <= 1024) return 'low';
  if (budget <= 8192) return 'medium';
  return budget <= 24_576 ? 'high' : 'xhigh';
}

function display({ show }: ReasoningRequest): WireObject {
  if (show === null) return {};
  return { display: show ? 'summarized' : 'omitted' };
}
