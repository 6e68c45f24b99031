import type { ReasoningEffort as Effort, ReasoningRequest } from '#canonical/index.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { member } from '../../fields.ts';
import type { ModelTraits, ThinkingLevel } from './model-traits.ts';
import { readNumber } from '../../../shared/text/request-values.ts';

const efforts: Readonly<Record<string, Effort>> = {
  MINIMAL: 'minimal',
  LOW: 'low',
  MEDIUM: 'medium',
  HIGH: 'high',
};

/** Reads `thinkingConfig`; null if it requests nothing. A budget of 0 is off; with -1 the model decides. */
export function decodeThinking(config: JsonRecord | null, param: string): ReasoningRequest | null {
  if (config === null) return null;
  const budget = readNumber(member(config, 'thinkingBudget'), `${param}.thinkingBudget`);
  const level = member(config, 'thinkingLevel');
  const effort = typeof level === 'string' ? (efforts[level.toUpperCase()] ?? null) : null;
  const includeThoughts = member(config, 'includeThoughts');
  const show = typeof includeThoughts === 'boolean' ? includeThoughts : null;
  // Hiding thoughts, alone, does not request any.
  if (budget === null && effort === null && show !== true) return null;
  return {
    mode: budget === 0 ? 'off' : 'on',
    effort,
    budget: budget !== null && budget > 0 ? budget : null,
    show,
  };
}

/** Efforts in tokens. Up to `high`, each is also the largest budget that counts as this effort. */
const budgets: readonly (readonly [Effort, number])[] = [
  ['none', 0],
  ['minimal', 512],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24_576],
  ['xhigh', 32_768],
  ['max', Infinity],
];

const levels: Readonly<Record<Effort, ThinkingLevel>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
};

/** Encodes `thinkingConfig` for a model with these traits; null if it would be empty. */
export function encodeThinking(
  reasoning: ReasoningRequest | null,
  model: ModelTraits,
  losses: Losses,
): JsonRecord | null {
  if (reasoning === null) return null;
  const isOn = reasoning.mode === 'on' && reasoning.effort !== 'none';
  if (model.thinking.by === 'none') {
    if (isOn) losses.dropped('reasoning');
    return null;
  }
  const amount =
    model.thinking.by === 'level'
      ? levelOf(reasoning, model.thinking.levels, losses)
      : budgetOf(reasoning, model.thinking, losses);
  // Only a client that can show thoughts gets them.
  const thoughtMembers = isOn && reasoning.show !== false ? { includeThoughts: true } : {};
  const config = { ...amount, ...thoughtMembers };
  return Object.keys(config).length > 0 ? config : null;
}

function levelOf(
  reasoning: ReasoningRequest,
  available: readonly ThinkingLevel[],
  losses: Losses,
): JsonRecord {
  const effort =
    reasoning.mode === 'off' ? 'none' : (reasoning.effort ?? effortOf(reasoning.budget));
  if (effort === null) return {};
  const wantedLevel = levels[effort];
  const level = available.includes(wantedLevel)
    ? wantedLevel
    : wantedLevel === 'MINIMAL'
      ? 'LOW'
      : 'HIGH';
  if (reasoning.effort === null && reasoning.budget !== null) {
    losses.approximated('reasoning.budget');
  } else if (efforts[level] !== effort) losses.approximated('reasoning.effort');
  return { thinkingLevel: level };
}

function budgetOf(
  reasoning: ReasoningRequest,
  range: { readonly least: number; readonly most: number; readonly canBeOff: boolean },
  losses: Losses,
): JsonRecord {
  const wantedBudget =
    reasoning.mode === 'off' ? 0 : (reasoning.budget ?? tokensOf(reasoning.effort));
  if (wantedBudget === null) return { thinkingBudget: -1 };
  const clamped = Math.min(Math.max(wantedBudget, range.least), range.most);
  const budget = wantedBudget === 0 && range.canBeOff ? 0 : clamped;
  if (budget !== wantedBudget && wantedBudget !== Infinity) {
    losses.approximated(reasoning.budget === null ? 'reasoning.effort' : 'reasoning.budget');
  }
  return { thinkingBudget: budget };
}

function tokensOf(effort: Effort | null): number | null {
  return budgets.find(([name]) => name === effort)?.[1] ?? null;
}

function effortOf(budget: number | null): Effort | null {
  if (budget === null) return null;
  return budgets.slice(0, -2).find(([, most]) => budget <= most)?.[0] ?? 'xhigh';
}
