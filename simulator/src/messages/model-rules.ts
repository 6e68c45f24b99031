import { isObject, isPresent, stringAt, type JsonObject } from '../json.ts';
import { invalid } from './protocol.ts';

/**
 * What the vendor's own models refuse beyond what all do. Only names with `claude` have such rules here: the
 * simulator's demo models take every mode.
 */
interface ModelRules {
  /** Modes of thinking the model knows. */
  readonly modes: readonly string[];
  readonly efforts: readonly string[];
  readonly prefill: boolean;
  readonly systemTurns: boolean;
  readonly sampling: boolean;
}

const efforts = ['low', 'medium', 'high', 'xhigh', 'max'];

/** @returns null for a model of no known vendor. */
export function rulesOf(model: string): ModelRules | null {
  const found = /claude-(?:[a-z]+-)?(\d)(?:-(\d)(?!\d))?/.exec(model);
  if (found === null) return null;
  const version = Number(`${found[1]}.${found[2] ?? 0}`);
  const isOpus = model.includes('opus');
  if (version < 3.7) return older(['disabled'], []);
  if (version < 4.6) {
    return older(
      ['enabled', 'disabled'],
      isOpus && version === 4.5 ? ['low', 'medium', 'high'] : [],
    );
  }
  if (version === 4.6) {
    const known = efforts.filter((effort) => effort !== 'xhigh');
    return { ...older(['enabled', 'adaptive', 'disabled'], known), prefill: false };
  }
  const isAlwaysOn = isOpus && version >= 5.5;
  const off = model.includes('sonnet') && version >= 5.5 ? 'between_tools' : 'disabled';
  const modes = isAlwaysOn ? ['adaptive'] : ['adaptive', off];
  return { modes, efforts, prefill: false, systemTurns: version >= 4.8, sampling: false };
}

function older(modes: readonly string[], known: readonly string[]): ModelRules {
  return { modes, efforts: known, prefill: true, systemTurns: false, sampling: true };
}

/** @throws Rejection */
export function checkModelRules(body: JsonObject, model: string): void {
  const rules = rulesOf(model);
  if (rules === null) return;
  const mode = stringAt(body['thinking'], 'type');
  if (mode !== '' && !rules.modes.includes(mode)) {
    throw invalid(
      mode === 'enabled'
        ? '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        : `${mode} thinking is not supported on this model`,
    );
  }
  const effort = stringAt(body['output_config'], 'effort');
  if (effort !== '' && rules.efforts.length === 0) {
    throw invalid('This model does not support the effort parameter.');
  }
  if (effort !== '' && !rules.efforts.includes(effort)) {
    throw invalid(
      `This model does not support effort level '${effort}'. Supported levels: ${rules.efforts.join(', ')}.`,
    );
  }
  checkSampling(body, rules);
  const last = (body['messages'] as unknown[]).at(-1);
  if (!rules.prefill && isPrefill(last)) {
    throw invalid(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    );
  }
}

function checkSampling(body: JsonObject, { sampling }: ModelRules): void {
  if (sampling) return;
  const { temperature, top_p: topP, top_k: topK } = body;
  if (isPresent(temperature) && temperature !== 1) {
    throw invalid('`temperature` is deprecated for this model.');
  }
  if (typeof topP === 'number' && topP < 0.99)
    throw invalid('`top_p` is deprecated for this model.');
  if (isPresent(topK)) throw invalid('`top_k` is deprecated for this model.');
}

/** A response that one of the vendor's own tools broke off is sent back as it is. */
function isPrefill(last: unknown): boolean {
  if (stringAt(last, 'role') !== 'assistant' || !isObject(last)) return false;
  const { content } = last;
  if (!Array.isArray(content)) return true;
  return !content.some((block) => stringAt(block, 'type') === 'server_tool_use');
}
