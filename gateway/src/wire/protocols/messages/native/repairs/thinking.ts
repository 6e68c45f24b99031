import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import type { Effort } from '../../thinking-models.ts';
import {
  type Draft,
  gone,
  type RepairContext,
  type Block,
  isPlain,
  type Message,
} from './draft.ts';

const leastBudget = 1024;

/** With this beta the model also thinks between tool calls, and its budget may exceed the output. */
const interleaved = 'interleaved-thinking';

const thinkingModes: ReadonlySet<unknown> = new Set(['enabled', 'adaptive', 'between_tools']);

export function isThinking(root: JsonRecord): boolean {
  return thinkingModes.has(recordAt(root, 'thinking')['type']);
}

function thinkingType(root: JsonRecord): unknown {
  return recordAt(root, 'thinking')['type'];
}

/** A budget must be at least 1024 and less than the output. */
export function boundBudget(draft: Draft): boolean {
  const { root } = draft;
  const thinking = recordAt(root, 'thinking');
  if (!isBudgetWrong(root, draft.context)) return false;
  const budget = thinking['budget_tokens'] as number;
  const most = mostBudget(root, draft.context);
  if (most < leastBudget) draft.set('thinking', gone);
  else {
    const bounded = Math.max(leastBudget, Math.min(budget, most));
    draft.set('thinking', draft.change(thinking, { budget_tokens: bounded }));
  }
  return true;
}

export function isBudgetWrong(root: JsonRecord, context: RepairContext): boolean {
  const { type, budget_tokens: budget } = recordAt(root, 'thinking');
  if (type !== 'enabled' || typeof budget !== 'number') return false;
  return budget < leastBudget || budget > mostBudget(root, context);
}

function mostBudget(root: JsonRecord, { isCount, betas }: RepairContext): number {
  const limit = root['max_tokens'];
  if (isCount || typeof limit !== 'number' || betas.includes(interleaved)) return Infinity;
  return limit - 1;
}

/** Newer models decide how much they think. A budget becomes an effort. */
export function enabledToAdaptive(draft: Draft): boolean {
  const { root, context } = draft;
  if (context.model.thinking?.mode !== 'adaptive' || thinkingType(root) !== 'enabled') return false;
  const thinking = recordAt(root, 'thinking');
  const budget = thinking['budget_tokens'];
  draft.set('thinking', draft.change(thinking, { type: 'adaptive', budget_tokens: gone }));
  const hasEffort = typeof recordAt(root, 'output_config')['effort'] === 'string';
  if (!hasEffort && typeof budget === 'number') setEffort(draft, effortOf(budget));
  return true;
}

/** Older models require a budget. The oldest do not think. */
export function adaptiveToEnabled(draft: Draft): boolean {
  const { root, context } = draft;
  if (!isUnknownMode(thinkingType(root), context)) return false;
  const budget = budgetFor(root, context);
  if (context.model.thinking?.mode === 'none' || budget < leastBudget) draft.set('thinking', gone);
  else {
    const thinking = recordAt(root, 'thinking');
    draft.set('thinking', draft.change(thinking, { type: 'enabled', budget_tokens: budget }));
  }
  return true;
}

export function isUnknownMode(type: unknown, { model }: RepairContext): boolean {
  const mode = model.thinking?.mode;
  if (mode === 'none') return type === 'adaptive' || type === 'enabled';
  return mode === 'manual' && type === 'adaptive';
}

export function keepThinking(draft: Draft): boolean {
  const { thinking } = draft.context.model;
  if (thinking === null || thinkingType(draft.root) !== 'disabled') return false;
  if (thinking.off === 'disabled') return false;
  draft.set(
    'thinking',
    thinking.off === null
      ? gone
      : draft.change(recordAt(draft.root, 'thinking'), { type: thinking.off }),
  );
  return true;
}

/** A model cannot think before a required call. */
export function freeForcedChoice(draft: Draft): boolean {
  const { root, context } = draft;
  if (!isForced(root)) return false;
  const isAlwaysOn = context.model.thinking?.off === null;
  if (!isAlwaysOn && !isThinking(root)) return false;
  if (isAlwaysOn) {
    const choice = recordAt(root, 'tool_choice');
    draft.set('tool_choice', draft.change(choice, { type: 'auto', name: gone }));
  } else turnOff(draft);
  return true;
}

export function isForced(root: JsonRecord): boolean {
  const { type } = recordAt(root, 'tool_choice');
  return type === 'any' || type === 'tool';
}

/** Disables thinking explicitly where that is understood: some models think by default. */
export function turnOff(draft: Draft): void {
  const { thinking } = draft.context.model;
  const off = thinking === null || thinking.off === 'disabled';
  draft.set('thinking', off ? { type: 'disabled' } : gone);
}

const levels: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** Lowers the effort to the model's nearest level, or raises it to its lowest. Unknown levels stay. */
export function fitEffort(draft: Draft): boolean {
  const fitted = fittedEffort(draft.root, draft.context);
  if (fitted === null) return false;
  setEffort(draft, fitted);
  return true;
}

/** The effort to set, or `gone` to remove it. Null if nothing has to change. */
export function fittedEffort(
  root: JsonRecord,
  { model }: RepairContext,
): Effort | undefined | null {
  const { effort } = recordAt(root, 'output_config');
  if (typeof effort !== 'string') return null;
  // Levels of other protocols.
  if (effort === 'none') return gone;
  const wantedLevel = effort === 'minimal' ? 'low' : levels.find((level) => level === effort);
  if (wantedLevel === undefined) return null;
  const knownEfforts = model.thinking?.efforts ?? levels;
  const fitted =
    knownEfforts.findLast((level) => levels.indexOf(level) <= levels.indexOf(wantedLevel)) ??
    knownEfforts[0];
  return fitted === effort ? null : fitted;
}

function setEffort(draft: Draft, effort: Effort | undefined): void {
  const config = draft.root['output_config'];
  if (!isRecord(config)) draft.set('output_config', { effort });
  else {
    const isEmptied = effort === gone && Object.keys(config).length === 1;
    draft.set('output_config', isEmptied ? gone : draft.change(config, { effort }));
  }
}

function effortOf(budget: number): Effort {
  if (budget <= 1024) return 'low';
  if (budget <= 8192) return 'medium';
  return budget <= 24_576 ? 'high' : 'xhigh';
}

const budgets: Readonly<Record<string, number>> = {
  low: leastBudget,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: Number.POSITIVE_INFINITY,
};

/** A budget that leaves a quarter of the output for text. */
function budgetFor(root: JsonRecord, { isCount }: RepairContext): number {
  const effort = recordAt(root, 'output_config')['effort'];
  const wantedBudget = budgets[typeof effort === 'string' ? effort : 'medium'] ?? leastBudget;
  const limit = root['max_tokens'];
  if (typeof limit !== 'number')
    return isCount && wantedBudget === Infinity ? budgets['xhigh']! : wantedBudget;
  const most = limit <= leastBudget ? 0 : Math.max(leastBudget, Math.floor((limit * 3) / 4));
  return Math.min(wantedBudget, most);
}

/**
 * Drops unsigned thinking. The vendor refuses what it did not sign; other upstreams may want theirs back unsigned. What
 * this gateway sealed for another upstream was removed before.
 */
export function dropUnsigned(draft: Draft): boolean {
  return draft.mapBlocks((block) => (isUnsigned(block, draft.context) ? null : block));
}

export function isUnsigned({ type, signature }: Block, { model }: RepairContext): boolean {
  return model.signsThoughts && type === 'thinking' && signature === '';
}

export function dropIncomplete(draft: Draft): boolean {
  return draft.mapBlocks((block) => (isIncomplete(block, draft.context) ? null : block));
}

export function isIncomplete(block: Block, { model }: RepairContext): boolean {
  if (block.type === 'redacted_thinking') return typeof block['data'] !== 'string';
  if (block.type !== 'thinking') return false;
  if (typeof block['thinking'] !== 'string') return true;
  return model.signsThoughts && typeof block['signature'] !== 'string';
}

/** In the middle of a step, the model requires the thinking with which the step began. Without it, thinking is off. */
export function stopThinking(draft: Draft): boolean {
  const { messages, root } = draft;
  if (messages === null || recordAt(root, 'thinking')['type'] !== 'enabled') return false;
  if (!isBrokenStep(messages)) return false;
  turnOff(draft);
  return true;
}

function isBrokenStep(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  if (last?.role !== 'user' || !hasResult(last)) return false;
  const end = messages.findLastIndex(({ role }) => role === 'assistant');
  const before = messages.slice(0, end).findLastIndex(({ role }) => role === 'user');
  const first = messages.slice(before + 1, end + 1).find(({ role }) => role === 'assistant');
  if (first === undefined) return false;
  const [block] = typeof first.content === 'string' ? [] : first.content;
  return block === undefined || (isPlain(block) && !isThought(block));
}

export function isThought({ type }: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function hasResult({ content }: Message): boolean {
  return typeof content !== 'string' && content.some(({ type }) => type === 'tool_result');
}
