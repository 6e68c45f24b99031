import type { Channel, Route } from '#catalogue/index.ts';
import type { Cure } from '#vendors/index.ts';

/** What is edited in the request for one route because its upstream has refused it. */
export interface RouteEdits {
  /** How many carriers of reasoning state are left out, the oldest first. */
  readonly withoutState: number;
  /** Besides those of the vendor. */
  readonly quirks: readonly QuirkCure[];
}

type QuirkCure = Exclude<Cure, { readonly kind: 'without-state' }>;

export const noEdits: RouteEdits = Object.freeze({ withoutState: 0, quirks: Object.freeze([]) });

/** Quirks that cured a request, by upstream model: a deployment's name need not tell which model it serves. */
const learned = new WeakMap<Channel, Map<string, readonly QuirkCure[]>>();

/** The quirks that the route's upstream has shown. They are forgotten with the snapshot of the channel. */
export function learnedQuirks({ channel, upstreamModel }: Route): readonly QuirkCure[] {
  return learned.get(channel)?.get(upstreamModel) ?? noEdits.quirks;
}

export function learnQuirk(route: Route, quirk: QuirkCure): void {
  const { channel, upstreamModel } = route;
  const known = learnedQuirks(route);
  if (known.includes(quirk)) return;
  const ofChannel = learned.get(channel) ?? new Map<string, readonly QuirkCure[]>();
  learned.set(channel, ofChannel.set(upstreamModel, [...known, quirk]));
}

/** The edits together with those that cure the refusal. */
export function withCure({ withoutState, quirks }: RouteEdits, cure: Cure | undefined): RouteEdits {
  if (cure === undefined) return { withoutState, quirks };
  if ('kind' in cure) return { withoutState: Infinity, quirks };
  return { withoutState, quirks: [...quirks, cure] };
}
