/** How one model's thinking is asked for. */
export interface Thinking {
  /** `manual`: a budget of tokens; `adaptive`: the model decides, an effort guides it; `either` takes both. */
  readonly mode: 'none' | 'manual' | 'either' | 'adaptive';
  /** How it is turned off; null: it cannot be. */
  readonly off: 'disabled' | 'between_tools' | null;
  /** From the least to the most. */
  readonly efforts: readonly Effort[];
}

export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

const all: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];
const withoutXhigh = all.filter((effort) => effort !== 'xhigh');

/**
 * By the model's name, since upstreams do not say: https://platform.claude.com/docs/build-with-claude/thinking.
 * A Claude whose version cannot be read is taken for a new one; any other model that speaks this protocol has what
 * it was built after, budgets.
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

/** The newer ones, which also do not go on with an answer that was begun for them. */
export function refusesPrefill(model: string): boolean {
  const { mode } = thinkingOf(model);
  return mode === 'either' || mode === 'adaptive';
}

/** The ones after Claude 4.6 take no `top_p`, whatever their catalogue entry says of sampling in general. */
export function refusesSampling(model: string): boolean {
  return thinkingOf(model).mode === 'adaptive';
}

/** Major times a hundred plus minor: `claude-opus-4-6` is 406, `claude-3-7-sonnet@20250219` 307; dates are none. */
function versionOf(name: string): number | null {
  const found =
    /(?:opus|sonnet|haiku|fable|mythos)[-.]?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/.exec(name) ??
    /claude-(?:v|instant-)?(\d)(?:[-.](\d))?(?!\d)/.exec(name);
  return found === null ? null : Number(found[1]) * 100 + Number(found[2] ?? 0);
}
