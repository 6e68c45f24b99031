import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { hasClosedField } from './beta-fields.ts';
import type { RepairContext } from './draft.ts';
import { hasBlankStop, isMetadataWrong } from './members.ts';
import { refusesTopK, refusesTopP } from './sampling.ts';
import { hasWrittenNumber } from './spelling.ts';
import { SuspicionWalk } from './suspicion-walk.ts';
import { fittedEffort, isBudgetWrong, isForced, isThinking, isUnknownMode } from './thinking.ts';

const walk = new SuspicionWalk();

/**
 * Whether any rule might apply. May be true without need, but is never false when a rule applies. One walk over the
 * parts that every request has makes requests without faults, which are nearly all, very cheap.
 */
export function isSuspect(json: JsonRecord, maxTokens: unknown, context: RepairContext): boolean {
  return areMembersSuspect(json, maxTokens, context) || walk.isSuspect(json, context);
}

function areMembersSuspect(json: JsonRecord, maxTokens: unknown, context: RepairContext): boolean {
  const { stream } = json;
  if (hasClosedField(json, context) || hasWrittenNumber(json)) return true;
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') return true;
  if (typeof json['max_tokens'] === 'string') return true;
  if (json['thinking'] !== undefined && isThinkingSuspect(json, maxTokens, context)) return true;
  if (json['output_config'] !== undefined && fittedEffort(json, context) !== null) return true;
  if (json['tool_choice'] !== undefined && isChoiceSuspect(json, context)) return true;
  return (
    refusesTopP(json, context) ||
    refusesTopK(json, context) ||
    (json['metadata'] !== undefined && isMetadataWrong(json)) ||
    (json['stop_sequences'] !== undefined && hasBlankStop(json))
  );
}

function isThinkingSuspect(json: JsonRecord, maxTokens: unknown, context: RepairContext): boolean {
  const { type, budget_tokens: budget } = recordAt(json, 'thinking');
  const known = context.model.thinking;
  if (typeof budget === 'string') return true;
  if (type === 'disabled') return known !== null && known.off !== 'disabled';
  if (isUnknownMode(type, context)) return true;
  if (type !== 'enabled') return false;
  if (known?.mode === 'adaptive') return true;
  return isBudgetWrong(
    maxTokens === json['max_tokens'] ? json : { ...json, max_tokens: maxTokens },
    context,
  );
}

function isChoiceSuspect(json: JsonRecord, { model }: RepairContext): boolean {
  const choice = json['tool_choice'];
  if (!isRecord(choice) || choice['type'] === 'none') return false;
  const { tools } = json;
  if (!Array.isArray(tools) || tools.length === 0) return true;
  if (isForced(json) && (model.thinking?.off === null || isThinking(json))) return true;
  if (choice['type'] !== 'tool') return false;
  const { name } = choice;
  return !tools.some((tool: unknown) => isRecord(tool) && tool['name'] === name);
}
