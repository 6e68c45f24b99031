import type {
  DeclaredChannel,
  DeclaredGroup,
  DeclaredKey,
  DeclaredModel,
  DeclaredTeam,
  DeclaredUser,
} from '#config/index.ts';
import { normalPrice } from '#config/index.ts';
import { normalDecimal } from '#config/decimal.ts';
import { formatUsd, parseUsd } from '#database/index.ts';

/** One field that differs. `before` and `after` are JSON text; both null where the value is secret. */
export interface FieldChange {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly secret: boolean;
}

/** A secret stands for its value in a comparison and is never shown. */
export class Hidden {
  readonly value: string;

  constructor(value: string) {
    this.value = value;
  }
}

/** An entry as the fields of the file, in comparable form. */
export type Fields = Readonly<Record<string, unknown>>;

/** What differs, in the order of `after`. */
export function compareFields(before: Fields, after: Fields): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const [field, value] of Object.entries(after)) {
    const old = before[field];
    const secret = value instanceof Hidden || old instanceof Hidden;
    const [left, right] = [comparable(old), comparable(value)];
    if (left === right) continue;
    changes.push({ field, before: secret ? null : left, after: secret ? null : right, secret });
  }
  return changes;
}

function comparable(value: unknown): string | null {
  if (value === undefined) return null;
  return value instanceof Hidden ? value.value : JSON.stringify(value);
}

interface Enabled {
  readonly enabled: boolean;
}

/** Each kind of entry as the fields of the file, for a plan, an export and an audit log. Kinds without `enabled` in the file are enabled by being in it. */
export const views = {
  group: (group: DeclaredGroup, row: Enabled = { enabled: true }): Fields => ({
    price_multiplier: normalDecimal(group.priceMultiplier),
    enabled: row.enabled,
  }),
  alias: (alias: { readonly model: string }, row: Enabled = { enabled: true }): Fields => ({
    model: alias.model,
    enabled: row.enabled,
  }),
  model: (model: DeclaredModel): Fields => ({
    type: model.type,
    display_name: model.displayName,
    owned_by: model.ownedBy,
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
    capabilities: model.capabilities,
    echo_reasoning: model.echoReasoning,
    allow: model.allow,
    // `0.20` and `0.2` are one price, and one version of it.
    price: normalPrice(model.price) ?? model.price,
    enabled: model.enabled,
  }),
  channel: (channel: DeclaredChannel): Fields => ({
    provider: channel.provider,
    base_url: channel.baseUrl,
    api_keys: new Hidden(JSON.stringify(channel.apiKeys)),
    protocols: channel.protocols,
    groups: channel.groups,
    models: channel.models.map(({ name, upstream }) =>
      name === upstream ? name : { name, upstream },
    ),
    priority: channel.priority,
    weight: channel.weight,
    user_agents: channel.userAgents,
    headers: new Hidden(JSON.stringify(channel.headers)),
    timeouts: channel.timeouts,
    proxy: new Hidden(JSON.stringify(channel.proxy)),
    bills_after_cancel: channel.billsAfterCancel,
    cache: channel.cache,
    state: channel.state,
    shared_state: channel.sharedState,
    enabled: channel.enabled,
  }),
  user: (user: DeclaredUser): Fields => ({
    name: user.name,
    role: user.role,
    quota: views.money(user.quota),
    groups: user.groups,
    enabled: user.enabled,
  }),
  team: (team: DeclaredTeam, row: Enabled = { enabled: true }): Fields => ({
    rpm: team.rpm,
    budget: {
      daily: views.money(team.budget.daily),
      monthly: views.money(team.budget.monthly),
      total: views.money(team.budget.total),
    },
    time_zone: team.timeZone,
    groups: team.groups,
    members: team.members
      .map(({ user, role, budget }) => ({ user, role, budget: views.money(budget) }))
      .toSorted((a, b) => (a.user < b.user ? -1 : 1)),
    enabled: row.enabled,
  }),
  key: (key: Omit<DeclaredKey, 'secret'>, hash: string | null): Fields => ({
    secret: new Hidden(hash ?? ''),
    user: key.user,
    team: key.team,
    group: key.group,
    models: key.models,
    quota: views.money(key.quota),
    expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
    ips: key.ips,
    rpm: key.rpm,
    rph: key.rph,
    max_concurrency: key.maxConcurrency,
    conversion: key.conversion,
    cap_output: key.capOutput,
    enabled: key.enabled,
  }),
  /** `10.00` and `10` are one amount. */
  money: (amount: string | null): string | null =>
    amount === null ? null : formatUsd(parseUsd(amount)),
};
