import { expect, test } from 'vitest';
import { ConfigError, parseConfig } from '#config/index.ts';

/*
 * S-37: every number of the file that is used for money or limits, in every invalid or misleading spelling. It is
 * refused with its line and path, or kept to the last digit; nothing is rounded.
 */

/** As in the file: the value in units of 10⁻¹⁵, and whether it is written like a count. */
const numbers: readonly (readonly [text: string, value: bigint | null, isCount?: 'count'])[] = [
  ['-1', -(10n ** 15n), 'count'],
  ['-0.000000001', -(10n ** 6n)],
  ['-1e308', null],
  ['0', 0n, 'count'],
  ['1', 10n ** 15n, 'count'],
  ['1.0', 10n ** 15n],
  ['1.5', 15n * 10n ** 14n],
  ['"1.5"', 15n * 10n ** 14n],
  ['0.1', 10n ** 14n],
  ['0.30000000000000004', null],
  ['1e3', 10n ** 18n],
  ['"1e3"', 10n ** 18n],
  ['1e-6', 10n ** 9n],
  ['1e-7', 10n ** 8n],
  ['1e-9', 10n ** 6n],
  ['0.0000000011', 11n * 10n ** 5n],
  ['1e-16', null],
  ['1e-400', null],
  ['2147483648', 2147483648n * 10n ** 15n, 'count'],
  ['9007199254740992', 2n ** 53n * 10n ** 15n, 'count'],
  ['9007199254740993', (2n ** 53n + 1n) * 10n ** 15n, 'count'],
  ['9223372036854775808', 2n ** 63n * 10n ** 15n, 'count'],
  ['18446744073686646784', 18446744073686646784n * 10n ** 15n, 'count'],
  ['18446744073709551615', (2n ** 64n - 1n) * 10n ** 15n, 'count'],
  ['1e308', null],
  ['1e400', null],
  ['.inf', null],
  ['-.inf', null],
  ['.nan', null],
  ['NaN', null],
  ['Infinity', null],
  ['0x10', null],
  ['0o17', null],
  ['1_000', null],
  ['"1,5"', null],
  ['"1 USD"', null],
  ['"$1"', null],
  ['"١"', null],
  ['"１"', null],
  ['--1', null],
  ['1e', null],
  ['true', null],
  ['[1]', null],
  ['{ a: 1 }', null],
];

interface Place {
  /** YAML with the number as `V`, alone on its line. */
  readonly file: string;
  readonly path: string;
  readonly expected: string;
  /** In units of 10⁻¹⁵. */
  readonly minimum: bigint;
  readonly maximum: bigint;
  /** Decimals; null: a count. */
  readonly places: number | null;
}

const unit = 10n ** 15n;

const model = (type: string, price: string): string => `models:
  - id: m
    type: ${type}
    price:
      ${price}`;
const team = (more: string): string => `users: [{ email: a@b.c }]
teams:
  - name: t
    ${more}`;
const key = (more: string): string => `users: [{ email: a@b.c }]
keys:
  - name: k
    user: a@b.c
    ${more}`;

function decimalAt(
  what: string,
  most: number,
  places: number,
  at: readonly (readonly [path: string, file: string])[],
): Place[] {
  const expected = `${what} from 0 to ${most} with at most ${places} decimals`;
  return at.map(([path, file]) => ({
    path,
    file,
    expected,
    minimum: 0n,
    maximum: BigInt(most) * unit,
    places,
  }));
}

function countAt(
  [least, most]: readonly [number, number],
  at: readonly (readonly [path: string, file: string])[],
): Place[] {
  const expected = `a whole number from ${least} to ${most}`;
  const [minimum, maximum] = [BigInt(least) * unit, BigInt(most) * unit];
  return at.map(([path, file]) => ({ path, file, expected, minimum, maximum, places: null }));
}

const tokenParts = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'input_image',
  'output_image',
  'input_audio',
  'cache_read_audio',
  'output_audio',
  'cache_read_image',
].map((part) => [`models[0].price.${part}`, model('chat', `${part}: V`)] as const);

const places: readonly Place[] = [
  ...decimalAt('a price in USD per million tokens', 1_000_000, 9, [
    ...tokenParts,
    [
      'models[0].price.video_tokens["720P"].text',
      model('video', 'video_tokens:\n        720P:\n          text: V\n          with_video: 1'),
    ],
    [
      'models[0].price.video_tokens["720P"].with_video',
      model('video', 'video_tokens:\n        720P:\n          text: 1\n          with_video: V'),
    ],
  ]),
  ...decimalAt('a price in USD', 1_000_000, 15, [
    [
      'models[0].price.image_tiers[0].price',
      model(
        'image',
        'image_tiers:\n        - name: 1K\n          max_pixels: 9\n          price: V',
      ),
    ],
    ['models[0].price.reference_image', model('image', 'reference_image: V')],
  ]),
  ...decimalAt('a price in USD per second', 1_000_000, 15, [
    ['models[0].price.video_second["720P"]', model('video', 'video_second:\n        720P: V')],
  ]),
  ...decimalAt('a factor', 1_000, 9, [
    ['models[0].price.layer_factor', model('image', 'layer_factor: V')],
  ]),
  ...decimalAt('a factor', 1_000_000, 6, [
    ['groups[0].price_multiplier', 'groups:\n  - name: g\n    price_multiplier: V'],
  ]),
  ...decimalAt('an amount in USD', 1_000_000_000, 9, [
    ['users[0].balance', 'users:\n  - email: a@b.c\n    balance: V'],
    ['users[0].quota', 'users:\n  - email: a@b.c\n    quota: V'],
    ['teams[0].balance', team('balance: V')],
    ['teams[0].budget.daily', team('budget:\n      daily: V')],
    ['teams[0].budget.monthly', team('budget:\n      monthly: V')],
    ['teams[0].budget.total', team('budget:\n      total: V')],
    ['teams[0].members[0].budget', team('members:\n      - user: a@b.c\n        budget: V')],
    ['keys[0].quota', key('quota: V')],
  ]),
  ...countAt(
    [0, 1_000_000_000],
    [
      ['teams[0].rpm', team('rpm: V')],
      ['keys[0].rpm', key('rpm: V')],
      ['keys[0].rph', key('rph: V')],
      ['keys[0].max_concurrency', key('max_concurrency: V')],
    ],
  ),
  ...countAt(
    [1, 1_000_000_000],
    [
      ['models[0].context_window', 'models:\n  - id: m\n    type: chat\n    context_window: V'],
      [
        'models[0].max_output_tokens',
        'models:\n  - id: m\n    type: chat\n    max_output_tokens: V',
      ],
    ],
  ),
  ...countAt(
    [1, 1_000_000_000_000],
    [
      [
        'models[0].price.image_tiers[0].max_pixels',
        model(
          'image',
          'image_tiers:\n        - name: 1K\n          price: 1\n          max_pixels: V',
        ),
      ],
    ],
  ),
  ...countAt(
    [0, 1_000_000],
    [
      [
        'channels[0].weight',
        'channels:\n  - name: c\n    provider: openai\n    models: []\n    weight: V',
      ],
      ['limits.queue', 'limits:\n  queue: V'],
    ],
  ),
  ...countAt(
    [1, 1_000_000],
    [
      ['limits.in_flight', 'limits:\n  in_flight: V'],
      ['limits.key_concurrency', 'limits:\n  key_concurrency: V'],
    ],
  ),
];

function isGood(place: Place, value: bigint | null, isCount: boolean): value is bigint {
  if (value === null || value < place.minimum || value > place.maximum) return false;
  return place.places === null ? isCount : value % 10n ** BigInt(15 - place.places) === 0n;
}

/** How a problem repeats what it got. */
function shown(text: string): string {
  if (text.startsWith('[')) return 'a list';
  if (text.startsWith('{')) return 'a mapping';
  return /^(-?\d+(\.\d+)?(e[-+]?\d+)?|-?\.inf|\.nan|0[xo]\d+|true|".*")$/.test(text)
    ? text
    : JSON.stringify(text);
}

/** The value at a path of the file, in the object that comes of it. */
function valueAt(declared: unknown, path: string): unknown {
  const names = path.replaceAll(/[["\]]+/g, '.').split('.');
  return names
    .filter((name) => name !== '')
    .map((name) =>
      name === '720P' ? name : name.replaceAll(/_(.)/g, (_, c: string) => c.toUpperCase()),
    )
    .reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], declared);
}

/** Plain digits in units of 10⁻¹⁵. */
function exact(digits: string): bigint {
  const [whole = '', fraction = ''] = digits.split('.');
  return BigInt(whole + fraction.padEnd(15, '0'));
}

/** The outcome of a file with this number: the number, or the only problem. */
function outcomeOf(place: Place, text: string): bigint | string {
  const file = place.file.replace('V', text);
  try {
    const config = parseConfig(file, { file: 'f.yaml', environment: {}, bundledModels: [] });
    const root = place.path.startsWith('limits') ? config : config.declared;
    return exact(String(valueAt(root, place.path)));
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

test.each(places)('S-37 $path: an invalid number is refused with its line', (place) => {
  const line = place.file.slice(0, place.file.indexOf('V')).split('\n').length;
  const seen = numbers.map(([text]) => [text, outcomeOf(place, text)]);
  const expected = numbers.map(([text, value, isCount]) => [
    text,
    isGood(place, value, isCount === 'count')
      ? value
      : `f.yaml:${line}: ${place.path}: expected ${place.expected}, got ${shown(text)}`,
  ]);
  expect(seen).toEqual(expected);
});
