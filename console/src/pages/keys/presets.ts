import type { Settings } from './key-fields.tsx';

/** Settings that suit what a key is for. */
interface Preset {
  readonly quota: string | null;
  /** After so many days it ends; null: never. */
  readonly days: number | null;
  readonly rpm: number | null;
  readonly max_concurrency: number | null;
}

/** An agent sends bursts, a build little at a time; what customers can spend is the first thing to bound. */
export const presets = {
  // 20 USD a month.
  coding: { quota: '60', days: 90, rpm: 60, max_concurrency: 8 },
  ci: { quota: '20', days: 180, rpm: 30, max_concurrency: 4 },
  customer: { quota: '25', days: null, rpm: 120, max_concurrency: 10 },
  other: { quota: null, days: null, rpm: null, max_concurrency: null },
} as const satisfies Readonly<Record<string, Preset>>;

export type PresetName = keyof typeof presets;
export const presetNames = Object.keys(presets) as PresetName[];

/** As the fields have it, if the key is made now. */
export function settingsOf(name: PresetName): Settings {
  const { days, ...limits }: Preset = presets[name];
  return {
    ...limits,
    models: [],
    rph: null,
    expires_at: days === null ? null : new Date(Date.now() + days * 86_400_000).toISOString(),
  };
}
