import type { UsageEntry } from './usage-entry.ts';

/** What a cell has. An amount is a decimal, every digit of which stays. */
export type Cell = string | number | { readonly amount: string } | null;

/** One line of CSV (RFC 4180) with its end. */
export function csvLine(values: readonly Cell[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}

/** Control characters, line ends, direction marks and zero-width marks, which must not appear in a cell. */
const unseen = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;
/** Spreadsheets take such text for a formula, in full-width forms too, and clients choose some of it. */
const formula = /^\s*[=+\-@＝＋－＠]/u;

/** Most cells: nothing in them needs a look. */
const plain = /^[A-Za-z0-9][\w .:@/-]*$/;

function cell(value: Cell): string {
  if (value === null || typeof value === 'number') return String(value ?? '');
  if (typeof value === 'object') return value.amount;
  if (plain.test(value)) return value;
  const shownText = value.replaceAll(unseen, '');
  const text = formula.test(shownText) ? `'${shownText}` : shownText;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const columns = {
  id: (entry) => entry.id,
  time: (entry) => entry.time,
  key: (entry) => entry.key,
  user: (entry) => entry.user,
  team: (entry) => entry.team,
  model: (entry) => entry.model,
  channel: (entry) => entry.channel,
  protocol: (entry) => entry.protocol,
  outcome: (entry) => entry.outcome,
  status: (entry) => entry.status,
  attempts: (entry) => entry.attempts.length,
  input: (entry) => entry.tokens.input,
  cache_read: (entry) => entry.tokens.cache_read,
  cache_write: (entry) => entry.tokens.cache_write,
  cache_write_1h: (entry) => entry.tokens.cache_write_1h,
  output: (entry) => entry.tokens.output,
  reasoning: (entry) => entry.tokens.reasoning,
  cost: (entry) => entry.cost,
  estimated: (entry) => String(entry.estimated),
  ttft_ms: (entry) => entry.ttft_ms,
  duration_ms: (entry) => entry.duration_ms,
  count: (entry) => entry.count,
  images: (entry) => entry.units?.images ?? null,
  layers: (entry) => entry.units?.layers ?? null,
  reference_images: (entry) => entry.units?.reference_images ?? null,
  input_image_tokens: (entry) => entry.units?.input_image_tokens ?? null,
  output_image_tokens: (entry) => entry.units?.output_image_tokens ?? null,
  video_ms: (entry) => entry.units?.video_ms ?? null,
  video_tokens: (entry) => entry.units?.video_tokens ?? null,
  resolution: (entry) => entry.units?.resolution ?? null,
  with_video: (entry) => textOf(entry.units?.with_video),
  task: (entry) => entry.units?.task ?? null,
  key_id: (entry) => entry.key_id,
  upstream_model: (entry) => entry.upstream_model,
  operation: (entry) => entry.operation,
  client: (entry) => entry.client,
  stream: (entry) => String(entry.stream),
  error: (entry) => entry.error,
  input_audio_tokens: (entry) => entry.units?.input_audio_tokens ?? null,
  output_audio_tokens: (entry) => entry.units?.output_audio_tokens ?? null,
  cache_read_audio_tokens: (entry) => entry.units?.cache_read_audio_tokens ?? null,
  cache_read_image_tokens: (entry) => entry.units?.cache_read_image_tokens ?? null,
  usage_unread: (entry) => entry.usage_unread.join(' '),
  quarantined: (entry) => String(entry.quarantined),
} satisfies Record<string, (entry: UsageEntry) => string | number | null>;

const textOf = (value: boolean | undefined) => (value === undefined ? null : String(value));

export const csvHeading = csvLine(Object.keys(columns));

const values = Object.values(columns);

/** One request as a line below `csvHeading`. */
export function toCsv(entry: UsageEntry): string {
  return csvLine(values.map((column) => column(entry)));
}
