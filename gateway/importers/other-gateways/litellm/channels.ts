import { matchesPattern } from '#config/pattern.ts';
import type { Placeholder } from '#declaration/index.ts';
import type { DraftChannel } from '../draft.ts';
import { createChannelNames } from '../names.ts';
import type { Notes } from '../notes.ts';
import { imageProtocols } from '../vendor-facts.ts';
import type { Deployment, KeySource } from './deployment.ts';
import type { ServedPattern } from './patterns.ts';
import { environmentName, textOf } from './values.ts';

/** Deployments that differ only in their models become one channel. */
export function toChannels(deployments: readonly Deployment[], notes: Notes): DraftChannel[] {
  const priorityOf = prioritiesOf(deployments);
  const weights = weightsOf(deployments, notes);
  const nameOf = createChannelNames();
  const exactNames = deployments.flatMap(({ name, pattern }) => (pattern ? [] : [name]));
  const drafts = new Map<string, ChannelDraft>();
  for (const deployment of deployments) {
    const { name, upstream, provider, baseUrl, key, headers, order, pattern, isImage } = deployment;
    const usual = pattern !== undefined && overlaps(pattern, exactNames) ? lastResort : 0;
    const priority = order === null ? usual : (priorityOf.get(order) ?? 0);
    const weight = weights.get(deployment) ?? 1;
    const likeness = JSON.stringify([provider, baseUrl, key, headers, priority, weight]);
    // A channel serves each name once.
    let place = likeness;
    while ((drafts.get(place)?.models.get(name) ?? upstream) !== upstream) place += '+';
    let draft = drafts.get(place);
    if (draft === undefined) {
      const channelName = nameOf(deployment.channelName);
      draft = {
        models: new Map(),
        patterns: new Set(),
        hasImages: false,
        channel: {
          name: channelName,
          provider,
          baseUrl,
          apiKeys: key === null ? [] : [toVariable(key, channelName, notes)],
          groups: ['default'],
          models: [],
          patterns: [],
          protocols: null,
          priority,
          weight,
          headers: Object.fromEntries(
            Object.entries(headers).map(([header, value]) => [
              header,
              headerVariable(header, value, channelName, notes),
            ]),
          ),
          enabled: true,
        },
      };
      drafts.set(place, draft);
    }
    draft.hasImages ||= isImage;
    if (pattern === undefined) draft.models.set(name, upstream);
    else for (const each of pattern.patterns) draft.patterns.add(each);
  }
  return Array.from(drafts.values(), ({ channel, models, patterns, hasImages }) => ({
    ...channel,
    models: Array.from(models, ([name, upstream]) => ({ name, upstream })),
    patterns: [...patterns],
    protocols: hasImages ? imageProtocols(channel.provider) : null,
  }));
}

interface ChannelDraft {
  readonly channel: DraftChannel;
  readonly models: Map<string, string>;
  readonly patterns: Set<string>;
  hasImages: boolean;
}

/** There, a pattern counts only for names that no entry has. */
const lastResort = -1;

function overlaps({ patterns }: ServedPattern, exactNames: readonly string[]): boolean {
  return patterns.some((pattern) => exactNames.some((name) => matchesPattern(pattern, name)));
}

/** `order` → `priority`: the lowest comes first, deployments without one (0) last. Orders may be any numbers. */
function prioritiesOf(deployments: readonly Deployment[]): ReadonlyMap<number, number> {
  const orders = new Set(deployments.flatMap(({ order }) => order ?? []));
  const lastFirst = [...orders].toSorted((one, other) => other - one);
  return new Map(lastFirst.map((order, index) => [order, index + 1]));
}

function toVariable(key: KeySource, channel: string, notes: Notes): Placeholder {
  if ('variable' in key) return notes.variable(key.variable);
  const placeholder = notes.secret(channel, 'KEY');
  notes.warn(
    `channel '${channel}': its API key is in LiteLLM's file; move it to ${placeholder.variable}`,
  );
  return placeholder;
}

function headerVariable(
  header: string,
  value: unknown,
  channel: string,
  notes: Notes,
): Placeholder {
  const variable = environmentName(textOf(value) ?? '');
  if (variable !== null) return notes.variable(variable);
  const placeholder = notes.secret(channel, `HEADER_${header}`);
  notes.warn(
    `channel '${channel}': put the value of header ${header} into ${placeholder.variable}`,
  );
  return placeholder;
}

/** Weights of deployments with one name: from `weight`, otherwise from `rpm`, as LiteLLM draws them. */
function weightsOf(deployments: readonly Deployment[], notes: Notes): Map<Deployment, number> {
  const weights = new Map<Deployment, number>();
  for (const [name, group] of Map.groupBy(deployments, (deployment) => deployment.name)) {
    if (group.some(({ rpm }) => rpm !== null)) {
      notes.leftOut('litellm_params.rpm, a limit of the upstream (it counts as a weight),', name);
    }
    const part = (['weight', 'rpm'] as const).find((each) =>
      group.some((one) => one[each] !== null),
    );
    if (group.length < 2 || part === undefined) continue;
    const whole = group.every((one) => Number.isInteger(one[part] ?? 0)) ? 1 : 1000;
    for (const one of group) {
      weights.set(one, Math.min(1_000_000, Math.max(0, Math.round((one[part] ?? 0) * whole))));
    }
  }
  return weights;
}
