/** How to request thinking from one model. */
export interface Thinking {
  /** `manual`: a budget of tokens. `adaptive`: the model decides, guided by an effort. `either`: both work. */
  readonly mode: 'none' | 'manual' | 'either' | 'adaptive';
  /** How to turn thinking off. Null: it is always on. */
  readonly off: 'disabled' | 'between_tools' | null;
  /** From lowest to highest. */
  readonly efforts: readonly Effort[];
}

export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

const all: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];
const withoutXhigh = all.filter((effort) => effort !== 'xhigh');

/**
 * By the model's name, since upstreams do not report it: https://platform.claude.com/docs/build-with-claude/thinking.
 * A Claude of unknown version counts as new. Any other model of this protocol uses budgets, as the models did after
 * which it was built.
 */
export function thinkingOf(model: string): Thinking {
  const name = model.toLowerCase();
  const version = versionOf(name);
  if (version === null && !name.includes('claude')) {
    return { mode: 'manual', off: 'disabled', efforts: [] };
  }
  const isAlwaysOn =
    /fable|mythos/.test(name) || (name.includes('opus') && version !== null && version >= 505);
  if (isAlwaysOn) return { mode: 'adaptive', off: null, efforts: all };
  if (version === null) return { mode: 'adaptive', off: 'disabled', efforts: all };
  if (version < 307) return { mode: 'none', off: 'disabled', efforts: [] };
  if (version < 406) {
    const isGuided = version === 405 && name.includes('opus');
    return { mode: 'manual', off: 'disabled', efforts: isGuided ? all.slice(0, 3) : [] };
  }
  if (version === 406) return { mode: 'either', off: 'disabled', efforts: withoutXhigh };
  const isPartly = name.includes('sonnet') && version >= 505;
  return { mode: 'adaptive', off: isPartly ? 'between_tools' : 'disabled', efforts: all };
}

/** Newer models, which also do not continue a begun response. */
export function refusesPrefill(model: string): boolean {
  const { mode } = thinkingOf(model);
  return mode === 'either' || mode === 'adaptive';
}

/** Models after Claude 4.6 refuse `top_p`, whatever their catalogue entry says about sampling. */
export function refusesSampling(model: string): boolean {
  return thinkingOf(model).mode === 'adaptive';
}

/** Major times 100 plus minor: `claude-opus-4-6` is 406, `claude-3-7-sonnet@20250219` is 307. Dates do not count. */
function versionOf(name: string): number | null {
  const foundModel =
    /(?:opus|sonnet|haiku|fable|mythos)[-.]?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/.exec(name) ??
    /claude-(?:v|instant-)?(\d)(?:[-.](\d))?(?!\d)/.exec(name);
  return foundModel === null ? null : Number(foundModel[1]) * 100 + Number(foundModel[2] ?? 0);
}
