import type { OpenedImages } from './types.ts';

/** The names of the events that a client gets. */
export interface ImageEventNames {
  readonly partial: string;
  readonly final: string;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const literal: ImageEventNames = Object.freeze({
  partial: 'image_generation.partial_image',
  final: 'image_generation.complete',
});

const ofOpenai: Readonly<Record<OpenedImages['form'], ImageEventNames>> = Object.freeze({
  generation: Object.freeze({
    partial: 'image_generation.partial_image',
    final: 'image_generation.completed',
  }),
  edit: Object.freeze({
    partial: 'image_edit.partial_image',
    final: 'image_edit.completed',
  }),
});

/**
 * The names as the client knows them: OpenAI's for its SDKs and for clients that ask for them.
 * @param headers by lower-case name
 */
export function eventNamesFor(form: OpenedImages['form'], headers: Headers): ImageEventNames {
  const wantedNames = String(headers['x-sluice-image-events'] ?? '')
    .trim()
    .toLowerCase();
  if (wantedNames === 'literal') return literal;
  const isOpenai = wantedNames === 'openai' || headers['x-stainless-lang'] !== undefined;
  return isOpenai ? ofOpenai[form] : literal;
}

/** What an event of an upstream is. */
export type ImageEventKind = 'partial' | 'final' | 'set-picture' | 'set-failure';

const kinds: Readonly<Record<string, ImageEventKind>> = Object.freeze({
  partial_image: 'partial',
  complete: 'final',
  completed: 'final',
  partial_succeeded: 'set-picture',
  partial_failed: 'set-failure',
});

/** Null for events of other kinds. */
export function kindOfEvent(type: unknown): ImageEventKind | null {
  if (typeof type !== 'string') return null;
  const name = /^image_(?:generation|edit)\.([a-z_]+)$/.exec(type)?.[1] ?? '';
  return Object.hasOwn(kinds, name) ? kinds[name]! : null;
}
