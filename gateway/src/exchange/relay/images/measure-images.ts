import {
  exceededTier,
  type ImageDemand,
  imageLines,
  judgeUsage,
  type CostLine,
  mostLayers,
  type PriceRates,
  ratesOf,
  type ReturnedImage,
  surchargedLines,
  tokenLines,
  type Unbillable,
  unpricedPart,
} from '#billing/index.ts';
import { noTokens, type ReportedUsage } from '#canonical/index.ts';
import type { Model } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { imageSize } from '#estimation/index.ts';
import type {
  ImageEntry,
  ImagesRequest,
  ImagesResponse,
  ImageStreamTap,
} from '#protocols/index.ts';
import type { UnitsRecord } from '#usage/index.ts';
import type { SurchargeFacts } from '#vendors/index.ts';
import type { ResolvedModel } from '../operation.ts';
import { chargedSurcharges } from '../admission/offered-terms.ts';
import { type Measured, nothingUsed } from '../ending/record.ts';

/** The parts of a request that decide how its response is measured. */
export interface MeasuredRequest {
  readonly request: Pick<ImagesRequest, 'images' | 'layers' | 'sources'>;
  readonly model: Pick<
    Model,
    'capabilities' | 'contextWindow' | 'maxOutputTokens' | 'price' | 'allow'
  >;
  /** Null: nothing is charged. */
  readonly rates: PriceRates | null;
  /** What the upstreams that may respond charge for in addition to tokens. */
  readonly surcharges: SurchargeFacts;
}

/** What a response says of its images. */
export type ReturnedImages = Pick<ImagesResponse, 'entries' | 'size' | 'inputImages' | 'usage'>;

/** Why a response cannot be charged, in a short word for the usage row. */
export type Uncharged = Unbillable['unbillable'] | 'no_picture' | 'usage_missing';

/**
 * What a response used: its images by tiers, or its tokens. If it cannot be charged, the word that says why: the client
 * must not get it.
 */
export function measureImages(
  response: ReturnedImages,
  measuredRequest: MeasuredRequest,
  missingUsage: 'estimate' | 'zero' | 'error',
): Measured | Uncharged {
  const { rates } = measuredRequest;
  const returnedImages = imagesOf(response, measuredRequest);
  if (returnedImages.length === 0) return 'no_picture';
  const units = unitsOf(response, measuredRequest);
  const tokens = tokensOf(response.usage, measuredRequest);
  if (rates === null || rates.imageTiers.length > 0) {
    const chargedImages = withMostLayers(returnedImages, measuredRequest);
    const lines =
      rates === null
        ? []
        : imageLines(rates, chargedImages, referencesOf(response, measuredRequest));
    if ('unbillable' in lines) return lines.unbillable;
    return {
      tokens: tokens.plausible,
      source: chargedImages.length < returnedImages.length ? 'quarantined' : 'reported',
      units,
      ...unreadOf(response.usage),
      lines: (heldRates) => [...lines, ...searchLines(heldRates, response.usage)],
    };
  }
  const { usage } = response;
  if (usage === null || usage.missingSide !== undefined) {
    if (missingUsage !== 'zero') return 'usage_missing';
    return { tokens: noTokens, source: 'none', units, lines: () => [] };
  }
  return {
    tokens: tokens.all,
    source: tokens.source,
    units,
    ...unreadOf(usage),
    lines: (heldRates) => linesOf(heldRates, usage, measuredRequest),
  };
}

/** What a response without any image used, which its client may have: its tokens, where images are priced by tokens. */
export function measureWithoutImages(
  usage: ReportedUsage | null,
  measuredRequest: MeasuredRequest,
): Measured {
  if (usage === null) return nothingUsed;
  const { all, source } = tokensOf(usage, measuredRequest);
  return {
    tokens: all,
    source,
    ...unreadOf(usage),
    lines: (rates) =>
      rates.imageTiers.length > 0
        ? searchLines(rates, usage)
        : linesOf(rates, usage, measuredRequest),
  };
}

/** Tokens, with the multipliers of the terms on which the response was made, and searches. */
function linesOf(
  rates: PriceRates,
  { tokens, surcharges }: ReportedUsage,
  { model, surcharges: facts }: MeasuredRequest,
): readonly CostLine[] {
  const chargedImages =
    surcharges === undefined ? undefined : chargedSurcharges(surcharges, model, facts);
  return surchargedLines(rates, tokenLines(rates, tokens), chargedImages);
}

function unreadOf(usage: ReportedUsage | null): Pick<Measured, 'unread'> {
  return usage?.unread === undefined ? {} : { unread: usage.unread };
}

/** In addition to tiers, which have no multipliers. */
function searchLines(rates: PriceRates, usage: ReportedUsage | null): readonly CostLine[] {
  const { webSearches = 0 } = usage?.surcharges ?? {};
  return surchargedLines(rates, [], { reported: [], webSearches });
}

/** What an upstream made: for the row, and for the operator if the client does not pay for it. */
export function unitsOf(
  response: ReturnedImages,
  { request }: Pick<MeasuredRequest, 'request'>,
): UnitsRecord {
  const good = response.entries.filter(({ isFailed }) => !isFailed);
  const layers = layersOf(good, request).size;
  const { sources } = request;
  return {
    ...(good.length > layers && { images: good.length - layers }),
    ...(layers > 0 && { layers }),
    ...(sources > 0 && { reference_images: referencesOf(response, { request }) }),
  };
}

/** All source images: those that the upstream counted, but no more than were sent. */
export function referencesOf(
  { inputImages }: Pick<ReturnedImages, 'inputImages'>,
  { request: { sources } }: Pick<MeasuredRequest, 'request'>,
): number {
  return inputImages !== null && inputImages >= 0 && inputImages <= sources ? inputImages : sources;
}

function imagesOf(response: ReturnedImages, { request, model }: MeasuredRequest): ReturnedImage[] {
  const good = response.entries.filter(({ isFailed }) => !isFailed);
  const layers = layersOf(good, request);
  // Where images of one response differ in size, only an entry's own size is certain.
  const differ = model.capabilities.has('multi_reference') || model.capabilities.has('layers');
  return good.map((entry) => ({
    size: entry.size ?? (differ ? null : (response.size ?? sizeInHeader(entry))),
    isLayer: layers.has(entry),
  }));
}

/** A decomposition has at most sixteen layers of each image; what an upstream counts beyond is not charged. */
function withMostLayers(
  returnedImages: readonly ReturnedImage[],
  { request: { images } }: Pick<MeasuredRequest, 'request'>,
): readonly ReturnedImage[] {
  let layersLeft = Number(mostLayers) * images;
  return returnedImages.filter(({ isLayer }) => !isLayer || (layersLeft -= 1) >= 0);
}

/** Layers lie above the base. If nothing is said of that, the base comes first. */
function layersOf(
  good: readonly ImageEntry[],
  { layers }: Pick<ImagesRequest, 'layers'>,
): ReadonlySet<ImageEntry> {
  if (!layers) return new Set();
  const isSaid = good.some(({ zIndex }) => zIndex !== null);
  return new Set(isSaid ? good.filter(({ zIndex }) => (zIndex ?? 0) > 0) : good.slice(1));
}

function sizeInHeader({ imageStart }: ImageEntry): string | null {
  const size = imageStart === null ? null : imageSize(imageStart.toString('base64'));
  return size === null ? null : `${size.width}x${size.height}`;
}

function tokensOf(usage: ReportedUsage | null, { request, model }: MeasuredRequest) {
  if (usage === null) return { all: noTokens, plausible: noTokens, source: 'none' as const };
  const all = usage.tokens;
  const source = judgeUsage(usage, model, request.images);
  const isPlausible = source === 'reported';
  return {
    all,
    plausible: isPlausible ? all : noTokens,
    source: isPlausible && usage.isDoubtful === true ? ('estimated' as const) : source,
  };
}

/**
 * Refuses what could not be charged before an upstream draws it.
 * @param size as the client wrote it; null: it did not
 * @throws GatewayError
 */
export function requirePriced(
  { model, name }: ResolvedModel,
  demand: Pick<ImageDemand, 'layers' | 'sources'>,
  size: string | null,
): void {
  const rates = model.price === null ? null : ratesOf(model.price);
  const lacking = rates === null ? 'images' : unpricedPart(rates, demand);
  if (rates === null || lacking !== null) {
    const { part, param } = unpricedParts[lacking ?? 'images'];
    throw new GatewayError('model_unpriced', { values: { model: name, part }, param });
  }
  const most = size === null ? null : exceededTier(rates, size);
  if (most === null) return;
  const reason = `size must have at most ${most} pixels: this model has no price for larger pictures`;
  throw new GatewayError('invalid_value', { values: { reason }, param: 'size' });
}

/** What has no price, and the member that asks for it. */
const unpricedParts = {
  images: { part: '', param: 'model' },
  layers: { part: ' for layers', param: 'layer_decomposition' },
  references: { part: ' for more than one reference image', param: 'image' },
} as const;

type Seen = Pick<ImageStreamTap, 'entries' | 'inputImages' | 'usage'>;

/** Measures what has come of a stream. */
export interface StreamMeter {
  /** Whether a final image can be charged: otherwise the client must not get it. */
  accepts(entry: ImageEntry): boolean;
  /** What the images so far cost, or why they cannot be charged. */
  measure(seenResponse: Seen): Measured | Uncharged;
  /** What the upstream has made so far, for the operator. */
  unitsOf(seenResponse: Seen): UnitsRecord;
}

/** @param mayLackPictures the client is shown a response without any image, too */
export function createStreamMeter(
  measuredRequest: MeasuredRequest,
  missingUsage: 'estimate' | 'zero' | 'error',
  mayLackImages = false,
): StreamMeter {
  return {
    accepts(entry) {
      const alone = { entries: [entry], size: null, inputImages: null, usage: null };
      // The usage may still come.
      return !isUncharged(measureImages(alone, measuredRequest, 'zero'));
    },
    measure(seenResponse) {
      if (mayLackImages && seenResponse.entries.length === 0) {
        return measureWithoutImages(seenResponse.usage, measuredRequest);
      }
      return measureImages(returnedImagesOf(seenResponse), measuredRequest, missingUsage);
    },
    unitsOf: (seenResponse) => unitsOf(returnedImagesOf(seenResponse), measuredRequest),
  };
}

export function isUncharged(measuredUsage: Measured | Uncharged): measuredUsage is Uncharged {
  return typeof measuredUsage === 'string';
}

function returnedImagesOf({ entries, inputImages, usage }: Seen) {
  return { entries, inputImages, usage, size: null };
}
