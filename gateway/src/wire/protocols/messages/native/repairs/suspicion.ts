import { isToolName } from '../../../shared/tools/tool-names.ts';
import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { isUncacheable } from './cache-rules.ts';
import { isPlainId } from './call-ids.ts';
import { type Block, isBlock, type RepairContext } from './draft.ts';
import { isImageTooLarge, isImageWrong } from './images.ts';
import {
  isIncomplete,
  isThought,
  isUnsigned,
  fittedEffort,
  isBudgetWrong,
  isForced,
  isThinking,
  isUnknownMode,
} from './thinking.ts';
import { isOwnTool, namesBadly } from './tool-names.ts';
import { isResultContent } from './tool-values.ts';
import { isSchemaWrong, modernizedSchema } from './tools.ts';
import { isStrict, hasClosedField } from './beta-fields.ts';
import { hasBlankStop, isMetadataWrong, refusesTopK, refusesTopP } from './members.ts';
import { hasWrittenNumber } from './spelling.ts';

/**
 * Looks for faults in tools, instructions and messages. One instance serves all requests, since a walk is never
 * interrupted. So its sets are not created anew each time.
 */
class SuspicionWalk {
  readonly #ids = new Set<string>();
  readonly #names = new Set<string>();
  /** Calls of the previous turn that still lack a result. */
  readonly #open = new Set<string>();
  #context: RepairContext | null = null;
  #markers = 0;
  #isShort = false;
  #mayCite = false;
  #isStrict = false;

  isSuspect(json: JsonRecord, context: RepairContext): boolean {
    this.#context = context;
    this.#markers = 0;
    this.#isShort = false;
    this.#isStrict = isStrict(context);
    this.#mayCite = json['output_config'] === undefined && json['output_format'] === undefined;
    this.#ids.clear();
    this.#names.clear();
    this.#open.clear();
    const { tools, system, messages } = json;
    const isFaulty =
      (tools !== undefined && tools !== null && this.#areToolsSuspect(tools)) ||
      (Array.isArray(system) && !system.every(this.#isPlainText)) ||
      (typeof system === 'string' && !system.isWellFormed()) ||
      this.#areMessagesSuspect(messages, json) ||
      this.#isMarkerSuspect(json) ||
      this.#markers > 4;
    this.#context = null;
    return isFaulty;
  }

  #areToolsSuspect(tools: unknown): boolean {
    if (!Array.isArray(tools)) return false;
    let deferred = 0;
    for (const tool of tools as unknown[]) {
      if (!isRecord(tool)) return true;
      const { name, description } = tool;
      if (typeof name === 'string') {
        if (this.#names.has(name)) return true;
        this.#names.add(name);
        if (isOwnTool(tool) && !isToolName(name, this.#context!.model.toolNames)) return true;
      }
      if (typeof description === 'string' && !description.isWellFormed()) return true;
      if (isSchemaWrong(tool) || this.#isMarkerSuspect(tool)) return true;
      if (modernizedSchema(tool) !== null) return true;
      if (tool['defer_loading'] === true) deferred += 1;
    }
    return tools.length > 0 && deferred === tools.length;
  }

  readonly #isPlainText = (block: unknown): boolean =>
    isBlock(block) && !this.#isTextSuspect(block) && !this.#isMarkerSuspect(block);

  #areMessagesSuspect(messages: unknown, json: JsonRecord): boolean {
    if (!Array.isArray(messages)) return false;
    if (messages.length === 0) return true;
    const needsTools = this.#context!.model.wantsToolsOfHistory && this.#names.size === 0;
    let before = 'assistant';
    for (const message of messages as unknown[]) {
      if (!isRecord(message)) return true;
      const { role, content } = message;
      // Two messages of one speaker, instructions, and unknown roles need a closer look.
      if (role === before || (role !== 'user' && role !== 'assistant')) return true;
      before = role;
      if (typeof content === 'string') {
        if (this.#open.size > 0 || isBlankText(content) || !content.isWellFormed()) return true;
      } else if (this.#areBlocksSuspect(content, role)) return true;
      if (needsTools && this.#open.size > 0) return true;
    }
    if (before === 'assistant') return true;
    return recordAt(json, 'thinking')['type'] === 'enabled' && isStepSuspect(messages);
  }

  #areBlocksSuspect(content: unknown, role: string): boolean {
    if (!Array.isArray(content) || content.length === 0) return true;
    let hasCall = false;
    for (const block of content as unknown[]) {
      if (!isBlock(block)) return true;
      switch (block.type) {
        case 'tool_result':
          if (role !== 'user' || this.#isResultSuspect(block)) return true;
          break;
        case 'tool_use':
          hasCall = true;
          if (role !== 'assistant' || this.#isCallSuspect(block)) return true;
          break;
        default:
          // Results come first, so none can follow this block.
          if (role === 'user' && this.#open.size > 0) return true;
          if (hasCall && block.type === 'text') return true;
          if (this.#isBlockSuspect(block, role)) return true;
      }
      if (this.#isMarkerSuspect(block)) return true;
    }
    return role === 'user' && this.#open.size > 0;
  }

  #isBlockSuspect(block: Block, role: string): boolean {
    const context = this.#context!;
    switch (block.type) {
      case 'text':
        return (
          this.#isTextSuspect(block) ||
          (this.#isStrict && block['citations'] != null && role === 'user')
        );
      case 'thinking':
      case 'redacted_thinking':
        return isUnsigned(block, context) || isIncomplete(block, context);
      case 'image':
        return isImageWrong(block) || isImageTooLarge(block, context);
      case 'document':
      case 'search_result':
        return !this.#mayCite || this.#isStrict || isIllFormed(block);
      case 'tool_addition':
      case 'compaction':
        return namesBadly(block, context.model);
      default:
        return false;
    }
  }

  #isTextSuspect(block: Block): boolean {
    const value = block['text'];
    return typeof value === 'string' && (isBlankText(value) || !value.isWellFormed());
  }

  #isCallSuspect(block: Block): boolean {
    const { id, input, name } = block;
    const { toolNames } = this.#context!.model;
    if (typeof name === 'string' && !isToolName(name, toolNames)) return true;
    if (typeof id !== 'string' || !isPlainId(id) || this.#ids.has(id)) return true;
    this.#ids.add(id);
    this.#open.add(id);
    return !isRecord(input) || isIllFormed(input);
  }

  #isResultSuspect({ tool_use_id: id, content }: Block): boolean {
    // Not open: there is no such call, or it has a result.
    if (typeof id !== 'string' || !this.#open.delete(id)) return true;
    if (typeof content === 'string') return !content.isWellFormed();
    if (!isResultContent(content)) return true;
    for (const part of (content ?? []) as readonly Block[]) {
      if (this.#isBlockSuspect(part, 'user') || this.#isMarkerSuspect(part)) return true;
    }
    return false;
  }

  #isMarkerSuspect(holder: JsonRecord): boolean {
    const marker = holder['cache_control'];
    if (marker === undefined || marker === null) return false;
    if (!isRecord(marker)) return false;
    this.#markers += 1;
    if (marker['ttl'] !== '1h') this.#isShort = true;
    else if (this.#isShort) return true;
    return isUncacheable(holder);
  }
}

function isBlankText(value: string): boolean {
  // Nearly every text begins with a visible character.
  return value.charCodeAt(0) > 0x20 && value.charCodeAt(0) < 0x80 ? false : value.trim() === '';
}

/** Whether any text in a call's arguments is malformed. */
function isIllFormed(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(isIllFormed);
  for (const name in value) if (isIllFormed((value as JsonRecord)[name])) return true;
  return false;
}

/** Whether the conversation ends with results of a step that does not begin with thinking. */
function isStepSuspect(messages: readonly unknown[]): boolean {
  const last = messages.at(-1) as JsonRecord;
  const before = messages.at(-2) as JsonRecord | undefined;
  const results = last['content'];
  if (!Array.isArray(results) || !results.some((block: Block) => block.type === 'tool_result'))
    return false;
  const content = before?.['content'];
  if (!Array.isArray(content)) return true;
  return !isThought(content[0] as Block);
}

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
  const modelThinking = context.model.thinking;
  if (typeof budget === 'string') return true;
  if (type === 'disabled') return modelThinking !== null && modelThinking.off !== 'disabled';
  if (isUnknownMode(type, context)) return true;
  if (type !== 'enabled') return false;
  if (modelThinking?.mode === 'adaptive') return true;
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
