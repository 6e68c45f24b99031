import type { TextProtocolName } from '#canonical/index.ts';

/** One thing that a client can write, alone in a request. */
export interface Feature {
  readonly area: Area;
  /** As a client of the protocol knows it; Markdown. */
  readonly name: string;
  /** Members of the request that has it. */
  readonly body: Members;
  /** Members of the same request without it; the client's plainest request when absent. */
  readonly without?: Members;
  /** Why it does not arrive everywhere as it is; also said of a thing that needs nothing to be done. */
  readonly why?: string;
  /** Nothing of the response depends on it: it may stay away in silence. */
  readonly harmless?: true;
  /** How many things it is, when one cannot be without the other; else 1. */
  readonly things?: number;
}

export const areas = [
  'The conversation',
  'Media',
  'Tools',
  'The response format',
  'Reasoning',
  'Limits and sampling',
  'State, vendors and accounts',
] as const;
export type Area = (typeof areas)[number];

type Members = Readonly<Record<string, unknown>>;

/** The features of one protocol's clients, and their plainest request. */
export interface ClientFeatures {
  readonly client: TextProtocolName;
  readonly plain: Members;
  readonly features: readonly Feature[];
}

/** Starts a list of features of one area. */
export const inArea = (area: Area, features: readonly Omit<Feature, 'area'>[]): Feature[] =>
  features.map((feature) => ({ area, ...feature }));

/** One pixel. */
export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
/** Not a real one; nobody looks inside. */
export const pdf = Buffer.from('%PDF-1.4 x').toString('base64');
export const sound = Buffer.from('RIFF....WAVE').toString('base64');
export const plainText = Buffer.from('some text').toString('base64');
export const picture = 'https://pictures.example/a.png';
export const paper = 'https://papers.example/a.pdf';

export const citySchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
