import {
  reasoningEfforts,
  type ReasoningEffort as Effort,
  type ReasoningRequest,
} from '#canonical/index.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';

const efforts: ReadonlySet<string> = new Set(reasoningEfforts);

export interface ReadReasoning {
  readonly reasoning: ReasoningRequest | null;
  /** The members that were read. Others stay unknown members. */
  readonly members: readonly string[];
}

const nothing: ReadReasoning = { reasoning: null, members: [] };

/**
 * Reads how much the model is to think: `reasoning_effort`, or one of the switches that servers invented beside it. An
 * effort with an unknown name (`default`) stays an unknown member.
 */
export function decodeReasoningRequest(json: JsonRecord): ReadReasoning {
  const effort = readEffort(json['reasoning_effort']);
  if (effort !== null) return { reasoning: byEffort(effort), members: ['reasoning_effort'] };
  if (isRecord(json['reasoning'])) return readRouterForm(json['reasoning']);
  if (isRecord(json['thinking'])) return readThinking(json['thinking']);
  const enabled = json['enable_thinking'];
  if (typeof enabled !== 'boolean') return nothing;
  const budget = enabled ? readBudget(json['thinking_budget']) : null;
  return {
    reasoning: enabled ? switchedOn(budget) : switchedOff(),
    members: budget === null ? ['enable_thinking'] : ['enable_thinking', 'thinking_budget'],
  };
}

/** Routers: `{effort, max_tokens, enabled, exclude}`. */
function readRouterForm(form: JsonRecord): ReadReasoning {
  const members = ['reasoning'];
  const show = form['exclude'] !== true;
  const effort = readEffort(form['effort']);
  if (effort !== null) {
    const reasoning = byEffort(effort);
    return { reasoning: reasoning.mode === 'on' ? { ...reasoning, show } : reasoning, members };
  }
  const budget = readBudget(form['max_tokens']);
  if (budget !== null) return { reasoning: { ...switchedOn(budget), show }, members };
  if (form['enabled'] === false) return { reasoning: switchedOff(), members };
  if (form['enabled'] === true) return { reasoning: { ...switchedOn(null), show }, members };
  return nothing;
}

/** DeepSeek, GLM, Doubao: `{type: 'enabled' | 'disabled', budget_tokens?}`. */
function readThinking(thinking: JsonRecord): ReadReasoning {
  const members = ['thinking'];
  if (thinking['type'] === 'disabled') return { reasoning: switchedOff(), members };
  if (thinking['type'] !== 'enabled') return nothing;
  return { reasoning: switchedOn(readBudget(thinking['budget_tokens'])), members };
}

function readEffort(value: unknown): Effort | null {
  return typeof value === 'string' && efforts.has(value) ? (value as Effort) : null;
}

function readBudget(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}

/** A chat client that asks for an effort can show the reasoning. */
function byEffort(effort: Effort): ReasoningRequest {
  if (effort === 'none') return switchedOff();
  return { mode: 'on', effort, budget: null, show: true };
}

function switchedOn(budget: number | null): ReasoningRequest {
  return { mode: 'on', effort: null, budget, show: true };
}

function switchedOff(): ReasoningRequest {
  return { mode: 'off', effort: 'none', budget: null, show: null };
}
